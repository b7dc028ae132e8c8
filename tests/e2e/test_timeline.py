"""The timeline and forks: what happened, the files at any point of it, a fork with a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


async def history(stage: Stage, context: BrowserContext, folder: str) -> tuple[Tab, Path]:
    """Two turns: a file made and a command after a question; then the file changed."""
    path = stage.project / folder / "a.txt"

    def write(text: str) -> ToolUse:
        return ToolUse("write", {"filePath": f"{folder}/a.txt", "content": text})

    stage.plays(
        Turn(tools=[write("one\n")]),
        Turn(tools=[ToolUse("bash", {"command": f"touch {folder}/b.txt"})]),
        Turn(text="First done."),
        Turn(tools=[ToolUse("read", {"filePath": f"{folder}/a.txt"})]),
        Turn(tools=[write("one\ntwo\n")]),
        Turn(text="Second done."),
    )
    tab = await stage.tab(context, await stage.session(folder))
    await tab.send("Make it.")
    await tab.permissions.get_by_role("button", name="Allow").first.click()
    await expect(tab.messages).to_contain_text("First done.")
    await tab.idle()
    await tab.send("Change it.")
    await expect(tab.messages).to_contain_text("Second done.")
    await tab.idle()
    return tab, path


async def test_scrubbing_by_keyboard_shows_earlier_files(stage: Stage, context: BrowserContext) -> None:
    tab, path = await history(stage, context, "scrubbed")
    await tab.undo(1)
    await tab.dialog.get_by_role("button", name="Undo").last.click()
    await expect(tab.page.locator(".reverted-notice")).to_be_visible()
    await tab.send("/timeline")
    moments = tab.page.locator(".moment")
    await expect(moments.locator(".moment-title")).to_have_text(
        [
            "Prompt",
            "Write",
            "Permission: bash",
            "Command",
            "Prompt",
            "Write",
            "Undo of a part of the conversation",
        ]
    )
    await expect(moments.nth(2)).to_contain_text("Allowed")
    slider, shown = tab.page.locator("#scrub"), tab.page.locator("#at")
    await slider.focus()
    await expect(shown).to_contain_text("After Undo of a part of the conversation")
    await expect(shown.locator(".at-files > li")).to_have_count(2)
    await slider.press("ArrowLeft")
    await expect(shown.locator(".first-lines tr.add")).to_have_count(2)
    await expect(slider).to_have_attribute(
        "aria-valuetext", "After Write, 2 files changed, 2 lines added, 0 removed"
    )
    await slider.press("Home")
    await expect(shown).to_contain_text("This session had changed no file.")
    await slider.press("ArrowRight")
    await expect(shown.locator(".first-lines tr.add .line")).to_have_text(["one"])
    await slider.press("Enter")
    point = tab.page.locator("#point")
    await expect(point.locator(".point-file tr.add .line")).to_have_text(["one"])
    assert path.read_text() == "one\n"
    await point.get_by_role("link", name="In the conversation").click()
    await expect(tab.page.locator(".message:focus .tool")).to_contain_text("a.txt")


@pytest.mark.long
async def test_hovering_looks_and_the_filter_chooses(stage: Stage, context: BrowserContext) -> None:
    tab, _ = await history(stage, context, "hovered")
    await tab.page.get_by_role("link", name="Timeline", exact=True).click()
    moments = tab.page.locator(".moment")
    await moments.filter(has_text="Write").first.hover()
    await expect(tab.page.locator("#at .first-lines tr.add .line")).to_have_text(["one"])
    await expect(tab.page.locator("#scrub")).to_have_value("1")
    shown = tab.page.locator("#timeline-form").get_by_role("checkbox")
    await expect(shown.and_(tab.page.locator(":checked"))).to_have_count(await shown.count())
    for kind in ("Edits", "Permissions"):
        await tab.page.get_by_label(kind).uncheck()
        await expect(tab.page.get_by_label(kind)).not_to_be_checked()
    await expect(moments.locator(".moment-title")).to_have_text(["Prompt", "Prompt"])
    stage.plays(Turn(text="Third done."))
    await stage.client.prompt(tab.page.url.rpartition("/")[0].rpartition("/")[2], "Once more.")
    await expect(moments.locator(".moment-title")).to_have_text(["Prompt", "Prompt", "Prompt"])


@pytest.mark.long
async def test_a_fork_from_a_message_with_its_files(stage: Stage, context: BrowserContext) -> None:
    tab, path = await history(stage, context, "forked")
    original = tab.session_id
    (path.parent / "mine.txt").write_text("mine\n")
    second = tab.page.locator(".message.user").nth(1)
    await second.get_by_role("button", name="Fork from here").click()
    await tab.dialog.get_by_label("With the files as they were").check()
    await expect(tab.dialog.locator(".fork-plan")).to_contain_text("Goes back to how it was.")
    await tab.dialog.get_by_role("button", name="Fork", exact=True).click()
    links = tab.page.locator("#fork-links")
    await expect(links).to_contain_text("Forked from forked")
    await tab.connected()
    await expect(tab.prompt).to_have_value("Change it.")
    await expect(tab.page.locator(".message.user .bubble")).to_have_text(["Make it."])
    fork = tab.session_id
    folder = Path((await stage.client.session(fork))["directory"])
    assert stage.project not in (folder, *folder.parents)
    assert (folder / "forked/a.txt").read_text() == "one\n"
    assert (folder / "forked/mine.txt").read_text() == "mine\n"
    assert path.read_text() == "one\ntwo\n"

    stage.plays(
        Turn(tools=[ToolUse("write", {"filePath": "forked/a.txt", "content": "fork\n"})]), Turn(text="Done.")
    )
    await tab.prompt.press("Enter")
    await expect(tab.messages).to_contain_text("Done.")
    assert (folder / "forked/a.txt").read_text() == "fork\n"
    assert path.read_text() == "one\ntwo\n"

    await links.get_by_role("link", name="Forked from forked").click()
    await expect(tab.page.locator(".message:focus .bubble")).to_have_text(["Change it."])
    await tab.page.locator("#fork-list summary").click()
    await expect(tab.page.locator("#fork-list a")).to_have_attribute(
        "href", f"{await project_of(stage, fork)}/s/{fork}"
    )
    assert tab.session_id.partition("#")[0] == original


async def project_of(stage: Stage, session_id: str) -> str:
    return f"/p/{(await stage.client.session(session_id))['projectID']}"


@pytest.mark.long
async def test_a_worktree_is_removed_after_its_losses_were_seen(
    stage: Stage, context: BrowserContext
) -> None:
    tab, _ = await history(stage, context, "removed")
    await tab.send("/fork")
    await tab.dialog.get_by_label("With the files as they are now").check()
    await tab.dialog.get_by_role("button", name="Fork", exact=True).click()
    await expect(tab.page.locator("#fork-links")).to_contain_text("Forked from removed")
    folder = Path((await stage.client.session(tab.session_id))["directory"])
    await tab.page.goto(f"{stage.server.url}/?choose")
    row = tab.page.locator(".recent li", has_text=folder.name)
    await row.get_by_role("button", name="Remove worktree").click()
    await expect(tab.dialog).to_contain_text("removed/a.txt")
    (folder / "late-in-the-worktree.txt").write_text("late\n")
    await tab.dialog.get_by_role("button", name="Remove and lose these").click()
    await expect(tab.dialog).to_contain_text("has changed since this was shown")
    assert (folder / "late-in-the-worktree.txt").exists()
    await tab.dialog.get_by_role("button", name="Keep it").click()
    await row.get_by_role("button", name="Remove worktree").click()
    await expect(tab.dialog).to_contain_text("late-in-the-worktree.txt")
    await tab.dialog.get_by_role("button", name="Remove and lose these").click()
    await expect(row).to_have_count(0)
    assert not folder.exists()
