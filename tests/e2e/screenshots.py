"""The pictures in docs/screenshots: `python -m tests.e2e.screenshots` (needs a Chromium)."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from tests.conftest import BROWSERS, USER_ENVIRON
from tests.e2e import apps, greeter
from tests.e2e.conftest import QUIET, WIDE
from tests.e2e.stage import Stage, Tab
from tests.e2e.test_machines import team
from tests.e2e.test_people import choose_password, staffed
from tests.e2e.test_preview import serving, shown
from tests.loopback.script import Body, TokenUsage, ToolUse, Turn, Wait
from tests.postgres_server import PostgresServer, programs
from tests.runtime.servers import ready

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
NARROW = {"width": 390, "height": 844}
EARLIER = ("Explain the packaging", "Fix the flaky farewell test", "Greet from the command line")
PERMISSION = {
    "*": "allow",
    "bash": {"*": "allow", "python -m *": "ask"},
    "edit": {"*": "allow", "greeter/__main__.py": "ask"},
}


class Pictured(Stage):
    """The model has a name that reads well."""

    def configuration(self) -> dict[str, Any]:
        config = super().configuration()
        provider = config["provider"].pop("fake")
        model = provider["models"]["fake"] | {"name": "Example Large"}
        config["provider"]["example"] = provider | {"name": "Example", "models": {"example-large": model}}
        return config | {"model": "example/example-large"}


async def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        home = Path(folder)
        stage = Pictured(home, greeter.make(home), permission=PERMISSION)
        stage.server.environ = {"PATH": f"{home / 'bin'}{os.pathsep}{USER_ENVIRON['PATH']}"}
        path = next(path for name in BROWSERS if (path := shutil.which(name)))
        async with stage, async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=path, args=QUIET)
            await show(stage, browser)
            await the_app(browser)
            await the_comparison(browser)
            await two_people(browser)
            await two_machines(browser)
            await browser.close()


async def show(stage: Stage, browser: Browser) -> None:
    """The whole story, one picture after the other."""
    context = await browser.new_context(viewport=WIDE, reduced_motion="reduce")
    for title in EARLIER:
        await stage.session(title)
    tab = await stage.tab(context)
    await shot(tab.page, "first")
    session = await stage.session("Greetings in other languages")
    await tab.open(session)
    await the_turn(stage, browser, tab, session)
    await the_review(tab)
    await the_timeline(tab)
    await the_rooms(stage, browser, session)
    await tab.open(session)
    await the_work(stage, browser, session)
    await the_undo(stage, tab)
    await the_goal(stage, browser)
    await the_inbox(stage, tab)
    await the_overview(stage, browser)
    await context.close()
    await the_errors(stage, browser)


async def the_turn(stage: Stage, browser: Browser, tab: Tab, session: str) -> None:
    stage.plays(*greeter.STORY)
    await tab.send(greeter.PROMPT)
    await tab.messages.get_by_text("a silent").wait_for()
    await shot(tab.page, "streaming")
    stage.model.gate("streaming").open()
    await tab.permissions.wait_for()
    await tab.review.locator("table.diff").wait_for()
    await shot(tab.page, "permission")
    await elsewhere(stage, browser, session, "narrow", viewport=NARROW, has_touch=True, is_mobile=True)
    await elsewhere(stage, browser, session, "dark", viewport=WIDE, color_scheme="dark")
    await tab.review.get_by_text("Split").click()
    await tab.review.locator("table.split").wait_for()
    await shot(tab.page, "session")
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await tab.tool("pytest -v").get_by_text("50%").wait_for()
    await tab.page.get_by_role("button", name="Changed files", exact=True).click()
    await shot(tab.page, "todos")
    await tab.tool("__main__.py").locator("summary").click()
    await tab.page.locator(".tool-output .diff").wait_for()
    await shot(tab.page, "tool")
    (stage.home / "go-on").touch()
    await tab.idle()
    await tab.page.get_by_role("button", name="Changed files", exact=True).click()
    await shot(tab.page, "split")


async def the_review(tab: Tab) -> None:
    """With one hunk undone, which is put back."""
    await tab.review.get_by_text("Unified").click()
    await tab.review.get_by_role("button", name="Full review").click()
    file = tab.review.locator(".file").first
    await file.locator("[data-hunk]").get_by_role("button", name="Undo", exact=True).click()
    await file.locator('[data-hunk][data-state="gone"]').wait_for()
    await tab.page.mouse.move(0, 0)
    await shot(tab.page, "review")
    await file.locator("[data-hunk]").get_by_role("button", name="Redo", exact=True).click()
    await file.locator('[data-hunk][data-state="here"]').wait_for()
    await tab.page.keyboard.press("Escape")


async def the_timeline(tab: Tab) -> None:
    await tab.page.get_by_role("link", name="Timeline", exact=True).click()
    await tab.page.wait_for_load_state("networkidle")
    await tab.page.locator("#scrub").press("ArrowLeft")
    await tab.page.locator("#at .first-lines").first.wait_for()
    await shot(tab.page, "timeline")


async def the_rooms(stage: Stage, browser: Browser, session: str) -> None:
    """Each of the page's rooms by day and by night."""
    for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
        for room in ROOMS:
            context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
            page = (await stage.tab(context, session)).page
            await room(page)
            await shot(page, f"{room.__name__}{end}")
            await context.close()


async def files(page: Page) -> None:
    await page.keyboard.press("Control+Shift+E")
    await page.locator("#files-tree [data-path=greeter]").click()
    await page.locator("#files-tree [data-path='greeter/hello.py']").click()
    await page.get_by_role("textbox", name="Text of hello.py").wait_for()


async def editor(page: Page) -> None:
    """A comment, and what was there before."""
    await files(page)
    text = page.get_by_role("textbox", name="Text of hello.py")
    for key in ("Control+End", "ArrowUp", "ArrowUp", "Shift+F2"):
        await text.press(key)
    await page.get_by_role("textbox", name="Comment on line").fill("Should this speak French, too?")
    await text.press("Alt+F3")
    await page.get_by_role("dialog", name="What was here before").wait_for()


async def find(page: Page) -> None:
    """A replacement before it is done."""
    await page.keyboard.press("Control+Shift+F")
    await page.get_by_role("searchbox", name="Search in the files").fill("greeting")
    await page.get_by_label("Replace it").check()
    await page.get_by_role("textbox", name="What is to be in its place").fill("welcome")
    await page.locator(".find-line ins", has_text="welcome").first.wait_for()


async def find_within(page: Page) -> None:
    await page.keyboard.press("Control+f")
    await page.get_by_role("searchbox", name="Find in the conversation").fill("german")
    await page.locator("#find-count", has_text=" of ").wait_for()


async def search(page: Page) -> None:
    await page.goto(f"{page.url.partition('/p/')[0]}/search?q=greet")
    await page.locator("mark").first.wait_for()


async def palette(page: Page) -> None:
    await page.keyboard.press("Control+k")
    await page.keyboard.type("re")
    await page.get_by_role("option", name="README.md").wait_for()


async def keys(page: Page) -> None:
    await page.goto(f"{page.url.partition('/p/')[0]}/settings/keys")
    await page.get_by_role("heading", name="Keys", exact=True).wait_for()


async def prompt(page: Page) -> None:
    """The large editor, with long text attached."""
    await page.locator("#prompt").fill("Why does this fail?")
    await page.locator("#prompt").evaluate(PASTED)
    await page.locator("#attachments li").wait_for()
    await page.keyboard.press("Control+Shift+Enter")
    await page.locator("#estimate", has_text="tokens").wait_for()


async def sessions(page: Page) -> None:
    """The menu of one, with another pinned."""
    await page.get_by_role("link", name="Fix the flaky farewell test").press("p")
    await page.locator("#sessions-pinned .session-item").wait_for()
    await page.get_by_role("link", name="Explain the packaging").press("Shift+F10")
    await page.get_by_role("menu").wait_for()


async def folders(page: Page) -> None:
    """Two of them, beside what is pinned; they are there once they were made."""
    if await page.locator(".folder").count():
        return
    for name, colour, title in (("Packaging", "Green", EARLIER[0]), ("Command line", "Violet", EARLIER[2])):
        await page.get_by_role("link", name=title).press("m")
        dialog = page.get_by_role("dialog", name="Folder")
        await dialog.get_by_label("A new one").check()
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_label(colour).check()
        await dialog.get_by_role("button", name="Save").click()
        await page.locator(".folder", has_text=name).locator(".session-item").wait_for()


async def move(page: Page) -> None:
    """What would go to a worktree."""
    await page.locator("#prompt").fill("/move ")
    await page.keyboard.press("Enter")
    await page.get_by_role("dialog", name="Move this session to a worktree").wait_for()


async def git(page: Page) -> None:
    """With a file open in it, and something to say of what is staged."""
    await page.keyboard.press("Escape")
    await page.locator("#scroller").focus()
    await page.keyboard.press("g")
    await page.keyboard.press("s")
    panel = page.get_by_role("dialog", name="Git")
    await panel.get_by_role("button", name="hello.py").first.click()
    await panel.locator(".git-diff table").wait_for()


async def settings(page: Page) -> None:
    """A change before it is written."""
    await page.get_by_role("link", name="Settings").click()
    await page.locator("#setting-keep-ignored-value").fill("30")
    await page.locator("#setting-keep-ignored").get_by_role("button", name="Change").click()
    await page.get_by_role("button", name="Write").scroll_into_view_if_needed()


async def usage(page: Page) -> None:
    await page.goto(f"{page.url.partition('/p/')[0]}/usage")
    await page.get_by_role("heading", name="Models").wait_for()


async def told(page: Page) -> None:
    """The instructions of the project are open."""
    project = page.url.partition("/p/")[2].partition("/")[0]
    await page.goto(f"{page.url.partition('/p/')[0]}/settings/told?project={project}")
    await page.get_by_text("Surroundings").first.click()


ROOMS: tuple[Callable[[Page], Awaitable[None]], ...] = (
    files,
    editor,
    find,
    find_within,
    search,
    palette,
    keys,
    prompt,
    sessions,
    folders,
    move,
    git,
    settings,
    usage,
    told,
)
PASTED = """
(field) => {
  const data = new DataTransfer();
  data.setData("text/plain", "Traceback (most recent call last):\\n".repeat(80));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}
"""


GOAL = {
    "objective": "Greet in German, too, with a test for it.",
    "checks": ["grep -q Hallo greeter/hello.py", "file: tests/test_german.py"],
    "budget": {"turns": 10, "cost": 2.0},
}


def _judged(verdict: str, reason: str) -> Turn:
    return Turn(text=json.dumps({"verdict": verdict, "reason": reason}))


async def the_goal(stage: Stage, browser: Browser) -> None:
    """Its second turn goes on; then its log."""
    test = "from greeter.hello import hello\n\n\ndef test_german():\n    assert 'Hallo' in hello('Eva')\n"
    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "tests/test_german.py", "content": test})]),
        Turn(text="I have written the test first; it fails, as there is no German greeting yet."),
        _judged("go_on", "The test is there. The greeting itself is missing: add it to greeter/hello.py."),
        Turn(text=["I look at how languages are chosen in `greeter/hello.py`.", Wait("goal")]),
    )
    session = await stage.session("Greet in German")
    await stage.client.post(f"/session/{session}/goal", GOAL)
    for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
        context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
        tab = await stage.tab(context, session)
        await tab.messages.get_by_text("I look at how languages").wait_for()
        await shot(tab.page, f"goal{end}")
        await tab.page.get_by_role("region", name="Goal").get_by_role("button", name="Log").click()
        await tab.dialog.wait_for()
        await shot(tab.page, f"goal-log{end}")
        await context.close()
    await stage.client.post(f"/session/{session}/goal/end")
    await stage.client.abort(session)


async def the_inbox(stage: Stage, tab: Tab) -> None:
    """Two sessions ask at once."""
    for title, command in greeter.ASKED.items():
        stage.plays(Turn(tools=[ToolUse("bash", {"command": command, "description": title})]))
        session = await stage.session(title)
        await tab.open(session)
        await tab.send(f"{title}, please.")
        await tab.permissions.wait_for()
    await tab.page.get_by_role("button", name="Approvals").click()
    await tab.page.locator("#inbox .inbox-head").first.click()
    await tab.page.locator("#inbox .permission").wait_for()
    await shot(tab.page, "inbox")


SCHEDULES: tuple[dict[str, Any], ...] = (
    {"name": "Nightly look", "when": {"kind": "cron", "rule": "30 3 * * *", "timezone": "Europe/Berlin"}},
    {"name": "Review what is pushed", "when": {"kind": "commit", "rule": "main"}, "worktree": True},
    {"name": "Keep the docs true", "when": {"kind": "files", "rule": "greeter/**\nREADME.md"}},
)
TOUR = {
    "stops": [
        {
            "title": "A language for each greeting",
            "text": "The greeting is chosen by its language now, and English stays what it was without one. "
            "Look at what an unknown language gets.",
            "hunks": [2],
        },
        {"title": "The tests of it", "text": "They pin both. None names an unknown language.", "hunks": [3]},
    ]
}


async def the_work(stage: Stage, browser: Browser, session: str) -> None:
    """What goes on by itself, and beside a conversation."""
    for schedule in SCHEDULES:
        await stage.client.post("/schedule", {**schedule, "prompt": "Look at what has changed, and say so."})
    stage.plays(Turn(text=json.dumps(TOUR)))
    terminal, port = await serving(stage)
    for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
        context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
        tab = await stage.tab(context, session)
        page = tab.page
        await tab.review.get_by_role("button", name="Tour", exact=True).click()
        if not end:
            await tab.dialog.get_by_role("button", name="Make it").click()
        await tab.review.locator("#review-tour").wait_for()
        await shot(page, f"tour{end}")
        await shown(tab, port)
        await shot(page, f"preview{end}", rests=False)
        await page.goto(f"{stage.server.url}/schedules?project={page.url.split('/')[4]}")
        await page.get_by_role("heading", name="Nightly look").wait_for()
        await shot(page, f"schedules{end}")
        await context.close()
    await stage.client.http.delete(f"/pty/{terminal}")


async def the_overview(stage: Stage, browser: Browser) -> None:
    """Some wait, some are done, some were never begun."""
    for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
        context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
        page = (await stage.tab(context)).page
        await page.goto(f"{stage.server.url}/?choose")
        await page.locator("#rows-idle").wait_for()
        await shot(page, f"overview{end}")
        await context.close()


async def the_undo(stage: Stage, tab: Tab) -> None:
    hello = stage.project / "greeter" / "hello.py"
    hello.write_text(hello.read_text().replace("Goodbye", "See you"))
    await tab.page.get_by_role("button", name="Changed files", exact=True).click()
    await tab.undo(0)
    await shot(tab.page, "undo-preview")
    await tab.dialog.get_by_role("button", name="Undo 1 prompt").click()
    await tab.review.locator(".review-empty").wait_for(state="attached")
    await tab.page.locator(".message").first.wait_for(state="hidden")
    await shot(tab.page, "after-undo")


async def the_errors(stage: Stage, browser: Browser) -> None:
    context = await browser.new_context(viewport=WIDE, reduced_motion="reduce")
    config = stage.project / "opencode.json"
    config.write_text(greeter.BROKEN_CONFIG)
    stage.plays(*greeter.TROUBLE)
    tab = await stage.tab(context, await stage.session("Tidy up with the linter"))
    await tab.send("Run the linter and rename hello to greet.")
    await tab.page.locator(".notice.error").wait_for()
    await shot(tab.page, "errors")
    await context.close()


ASKS = {"*": "allow", "weather_refresh": "ask"}
WEATHER = (
    Turn(tools=[ToolUse("weather_weather", {"city": "Paris"})]),
    Turn(text="It is 21 degrees in Paris, and it stays dry until tomorrow."),
)


async def the_app(browser: Browser) -> None:
    """An app of an MCP server that asks for a call."""
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        home = Path(folder)
        servers = {"weather": apps.server(home, apps=True)}
        async with Pictured(home, greeter.make(home), mcp=servers, permission=ASKS) as stage:
            await ready(stage.client, "weather_weather")
            for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
                context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
                session = await stage.session("The weather")
                stage.plays(*WEATHER)
                await stage.client.prompt(session, "What is the weather in Paris?")
                tab = await stage.tab(context, session)
                frame = tab.page.frame_locator(".mcp-app iframe")
                await frame.get_by_role("button", name="Look again").click()
                await tab.permissions.wait_for()
                await shot(tab.page, f"app{end}")
                await context.close()


COMPARED = {
    "example-small": ("Example Small", 0.1, "greeting.capitalize", TokenUsage(4_200, 310)),
    "example-medium": ("Example Medium", 1.0, "GREETINGS[language].format", TokenUsage(9_700, 820)),
    "example-large": ("Example Large", 5.0, "greet_in(language).format", TokenUsage(31_400, 2_900)),
}
"""Models with their names, prices, how each says hello, and what it takes for that."""
GREETING = """\
GREETINGS = {{"en": "Hello, {{name}}!", "de": "Hallo, {{name}}!"}}


def greeting(name, language="en"):
    return {}(name=name)
"""
SUITE = """\
import sys
good = "GREETINGS[language]" in open("greeter/hello.py").read()
bad = "" if good else "<failure/>"
cases = "".join(f"<testcase>{bad if number > 3 else ''}</testcase>" for number in range(6))
open("report.xml", "w").write(f"<testsuite>{cases}</testsuite>")
sys.exit(not good)
"""
JUDGED = {
    "best": 2,
    "reason": "The second is the smallest change that greets in German and leaves the other callers alone.",
    "attempts": [
        {"number": 1, "words": "It greets nobody: the template is never filled in, and two tests fail."},
        {
            "number": 2,
            "words": "Right, and as small as it can be. A language that is not known ends in a KeyError.",
        },
        {"number": 3, "words": "It calls a function that it never wrote, so that two tests fail."},
    ],
}


class Compared(Pictured):
    """Three models, each of which greets in its own way, and one of which judges."""

    def configuration(self) -> dict[str, Any]:
        config = super().configuration()
        models = config["provider"]["example"]["models"]
        model = models.pop("example-large")
        for name, (label, price, _, _) in COMPARED.items():
            models[name] = model | {"name": label, "cost": {"input": price, "output": price * 4}}
        return config

    def _next(self, body: Body) -> Turn:
        messages, (_, _, how, usage) = body["messages"], COMPARED[body["model"]]
        if "You compare attempts" in str(messages[0]["content"]):
            return Turn(text=json.dumps(JUDGED))
        if messages[-1]["role"] == "tool":
            return Turn(text="It greets in German now.", usage=usage)
        write = ToolUse("write", {"filePath": "greeter/hello.py", "content": GREETING.format(how)})
        return Turn(tools=[write], usage=usage)


def _with_a_suite(home: Path) -> Path:
    project = greeter.make(home)
    (project / "suite.py").write_text(SUITE)
    for arguments in (["add", "-A"], ["commit", "-q", "-m", "A suite of tests"]):
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=project, check=True)
    return project


async def the_comparison(browser: Browser) -> None:
    """Three models at one task."""
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        home = Path(folder)
        async with Compared(home, _with_a_suite(home), permission={"*": "allow"}) as stage:
            ways = [{"model": {"providerID": "example", "modelID": name}} for name in COMPARED]
            body = {"prompt": GOAL["objective"], "attempts": ways, "checks": ["python3 suite.py"]}
            made = await stage.client.post("/comparison", {**body, "judge": "example/example-large"})
            for end, kind in (("", {}), ("-dark", {"color_scheme": "dark"})):
                context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
                tab = await stage.tab(context)
                await tab.page.goto(f"{stage.server.url}{stage.home_path}compare/{made['id']}")
                await tab.page.locator("[data-best]").wait_for()
                await tab.page.locator(".compare-picks summary").nth(1).click()
                await tab.page.locator(".compare-picks table.diff").wait_for()
                await shot(tab.page, f"compare{end}")
                await context.close()


async def two_people(browser: Browser) -> None:
    """One has asked, and the other is to allow it."""
    with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
        async with staffed(Path(folder)) as stage:
            tabs = []
            for name, role, kind in (("Ada", "ask", {}), ("Grace", "approve", {"color_scheme": "dark"})):
                context = await browser.new_context(viewport=WIDE, reduced_motion="reduce", **kind)  # type: ignore[arg-type]
                tab = Tab(await context.new_page(), stage)
                await choose_password(tab.page, stage.invite(name, role))
                tabs.append(tab)
            write = ToolUse("write", {"filePath": "asked.txt", "content": "A greeting for everybody.\n"})
            stage.plays(Turn(text="I write the greeting.", tools=[write]))
            session = await stage.session("A greeting")
            for tab in tabs:
                await tab.open(session)
            await tabs[0].send("Write a greeting for everybody.")
            for tab, name in zip(tabs, ("team-asks", "team-approves"), strict=True):
                await tab.permissions.wait_for()
                await shot(tab.page, name)
                await tab.page.context.close()


async def two_machines(browser: Browser) -> None:
    """Both are there, then one is lost, and its project goes on at the other."""
    there = programs()
    if there is None:
        return
    postgres = PostgresServer(there)
    postgres.create()
    try:
        with tempfile.TemporaryDirectory(prefix="screenshots-") as folder:
            async with team(Path(folder), postgres) as (gpu, door):
                context = await browser.new_context(viewport=WIDE, reduced_motion="reduce")
                page = await context.new_page()
                session = await gpu.session("Train the small model")
                gpu.plays(Turn(text="Done."))
                await gpu.client.prompt(session, "Train it.")
                await page.goto(door.launch_url)
                machine = page.get_by_role("region", name="gpu-box")
                await machine.get_by_role("link", name="Move to build-1").wait_for()
                await shot(page, "machines")
                await asyncio.to_thread(gpu.server.kill)
                await machine.get_by_text("Away").wait_for()
                await machine.get_by_role("link", name="Restore at build-1").click()
                await page.get_by_role("heading", name="Restore").wait_for()
                await shot(page, "machine-lost")
                await asyncio.to_thread(gpu.server.start)
                await context.close()
    finally:
        postgres.remove()


async def elsewhere(stage: Stage, browser: Browser, session: str, name: str, **kind: object) -> None:
    """The same session at the same moment in another kind of browser."""
    context = await browser.new_context(**kind)  # type: ignore[arg-type]
    tab = await stage.tab(context, session)
    await tab.permissions.wait_for()
    await shot(tab.page, name)
    await context.close()


async def shot(page: Page, name: str, *, rests: bool = True) -> None:
    """One picture, once the page has come to rest, as far as it ever `rests`."""
    if rests:
        await page.wait_for_load_state("networkidle")
    await page.screenshot(path=FOLDER / f"{name}.png", animations="disabled", caret="hide")


if __name__ == "__main__":
    asyncio.run(main())
