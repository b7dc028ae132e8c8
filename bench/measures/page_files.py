"""The files of a large project in a page: its tree, the picker, a file of a megabyte, a text in them."""

from __future__ import annotations

from bench import project
from bench.browser import Browsing, Tab, browsing
from bench.lab import Lab
from bench.stats import median

FOLDERS = range(12, 2, -1)
"""From below to above, so that what has unfolded does not push the next one away."""
PICKED = 10
OPENED = 3


async def measure(lab: Lab) -> dict[str, float]:
    folder = lab.large_project()
    async with lab.server(folder=folder) as server:
        session = (await server.client.create_session("Files"))["id"]
        async with browsing(lab, server) as browser:
            await browser.warm_up(session)
            figures = {
                "a file of 1 MB, picked to painted p50 (ms)": median(
                    [await _opened(browser, session) for _ in range(OPENED)]
                )
            }
            async with browser.tab() as tab:
                await tab.open(browser.app.address(session))
                figures |= await _browsed(lab, browser, tab)
    return figures


async def _opened(browser: Browsing, session: str) -> float:
    """In a page that has opened no file yet."""
    async with browser.tab() as tab:
        await tab.open(browser.app.address(session))
        await _picked(browser, tab, project.MEGABYTE)
        return await tab.shown_after_press("Enter", f"{project.MEGABYTE}_")


async def _browsed(lab: Lab, browser: Browsing, tab: Tab) -> dict[str, float]:
    app = browser.app
    names = [project.file(lab.project, 400 * number + 17).stem for number in range(PICKED)]
    picked = [await _picked(browser, tab, name) for name in names]
    await app.show_tree(tab.page)
    unfolded = []
    for number in FOLDERS:
        row = app.row(f"package_{number:04}")
        unfolded.append(await tab.shown_after_click(row, project.file(lab.project, 50 * number).name))
        await tab.quiet()
    figures = {
        "a name in the picker to its file of 50,000 p50 (ms)": median(picked),
        "tree of 50,000 files, a folder unfolded p50 (ms)": median(unfolded),
    }
    if app.content:
        await tab.page.keyboard.press(app.content)
        await tab.quiet()
        figures["a text in the search to its line in 50,000 files (ms)"] = await tab.shown_after_paste(
            f"{project.NEEDLE_NAME} =", f"{project.NEEDLE_NAME}.py"
        )
    return figures


async def _picked(browser: Browsing, tab: Tab, name: str) -> float:
    """The picker stays open."""
    await tab.page.keyboard.press("Escape")
    await tab.quiet()
    await tab.page.keyboard.press(browser.app.picker)
    await tab.quiet()
    return await tab.shown_after_paste(name, f"{name}.py")
