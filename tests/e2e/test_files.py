"""The tree of files: opened, marked, filtered, live, and what is done in it by mouse and by keys."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, Locator, Route, expect

from tests.e2e.stage import Stage, Tab, hold
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


DROPPED = """
() => {
  const data = new DataTransfer();
  data.items.add(new File(["text"], "new.txt"));
  return data;
}
"""


def row(tab: Tab, path: str) -> Locator:
    return tab.page.locator(f"#files-tree .files-row[data-path='{path}']")


def line(tab: Tab, path: str) -> Locator:
    return row(tab, path).locator(":scope > .files-line")


async def listed(stage: Stage, context: BrowserContext, title: str) -> Tab:
    tab = await stage.tab(context, await stage.session(title))
    await tab.page.get_by_role("button", name="Files", exact=True).click()
    await expect(row(tab, "hello.py")).to_be_visible()
    return tab


async def choose(tab: Tab, path: str, item: str) -> None:
    await line(tab, path).click(button="right")
    await tab.page.get_by_role("menuitem", name=item).click()


async def name_it(tab: Tab, name: str) -> None:
    field = tab.page.get_by_role("textbox", name="Name")
    await expect(field).to_be_focused()
    await field.fill(name)
    await field.press("Enter")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


async def test_what_is_listed_is_chosen_in_one_row(stage: Stage, context: BrowserContext) -> None:
    tab = await listed(stage, context, "one row")
    buttons = tab.page.get_by_role("group", name="What is listed").get_by_role("button")
    boxes = [await one.bounding_box() for one in await buttons.all()]
    assert len(boxes) == 3
    lefts = [box["x"] for box in boxes if box]
    assert lefts == sorted(set(lefts)), boxes
    assert len({box["y"] for box in boxes if box}) == 1, boxes


async def test_the_tree_goes_by_keys_and_its_place_is_remembered(
    stage: Stage, context: BrowserContext
) -> None:
    write(stage.project / "walked/inner/deep.txt", "deep\n")
    tab = await stage.tab(context, await stage.session("by keys"))
    keyboard = tab.page.keyboard
    await keyboard.press("Control+Shift+E")
    await expect(tab.page.locator("#files-tree .files-row").first).to_be_focused()
    await keyboard.type("walked")
    await expect(row(tab, "walked")).to_be_focused()
    await keyboard.press("ArrowRight")
    await expect(row(tab, "walked")).to_have_attribute("aria-expanded", "true")
    await expect(row(tab, "walked/inner")).to_be_visible()
    await keyboard.press("ArrowRight")
    await expect(row(tab, "walked/inner")).to_be_focused()
    await keyboard.press("Enter")
    await expect(row(tab, "walked/inner/deep.txt")).to_have_attribute("aria-level", "3")
    await keyboard.press("ArrowDown")
    await keyboard.press("ArrowLeft")
    await expect(row(tab, "walked/inner")).to_be_focused()
    await keyboard.press("@")
    await expect(tab.prompt).to_have_value("@walked/inner/ ")
    await tab.prompt.fill("")
    await tab.page.reload()
    await expect(row(tab, "walked")).to_be_visible()
    await keyboard.press("Control+Shift+E")
    await keyboard.press("Control+Shift+E")
    await expect(tab.page.locator("#filter")).to_be_visible()
    await expect(tab.prompt).to_be_focused()


async def test_files_are_made_renamed_copied_and_deleted_and_it_is_undone(
    stage: Stage, context: BrowserContext
) -> None:
    write(stage.project / "acts/first.txt", "first\n")
    tab = await listed(stage, context, "acts")
    await choose(tab, "acts", "New file…")
    await name_it(tab, "made.py")
    await expect(row(tab, "acts/made.py")).to_be_visible()
    await expect(tab.page.get_by_role("tab", name="made.py")).to_have_attribute("aria-selected", "true")
    await choose(tab, "acts", "New folder…")
    await name_it(tab, "inner")
    await expect(row(tab, "acts/inner")).to_be_visible()

    await row(tab, "acts/first.txt").focus()
    await tab.page.keyboard.press("F2")
    await name_it(tab, "second.txt")
    await expect(row(tab, "acts/second.txt")).to_be_visible()
    await expect(row(tab, "acts/first.txt")).to_have_count(0)
    await choose(tab, "acts/second.txt", "Duplicate")
    await expect(row(tab, "acts/second copy.txt")).to_be_visible()

    await choose(tab, "acts", "Delete")
    await expect(row(tab, "acts")).to_have_count(0)
    assert not (stage.project / "acts").exists()
    toast = tab.page.locator(".toast", has_text="Removed acts.")
    await toast.get_by_role("button", name="Undo").click()
    await expect(row(tab, "acts")).to_be_visible()
    assert (stage.project / "acts/second copy.txt").read_text() == "first\n"
    await tab.page.get_by_role("tab", name="made.py").press("Delete")

    await choose(tab, "acts", "New file…")
    await name_it(tab, "second.txt")
    await expect(tab.page.locator(".toast", has_text="There is a acts/second.txt already.")).to_be_visible()


async def test_what_changes_on_the_disk_is_seen_and_marked(stage: Stage, context: BrowserContext) -> None:
    tab = await listed(stage, context, "live")
    write(stage.project / "live/one.txt", "1\n")
    await expect(line(tab, "live").locator(".files-mark")).to_have_text("U")
    await line(tab, "live").click()
    await expect(row(tab, "live/one.txt")).to_be_visible()
    write(stage.project / "live/two.txt", "2\n")
    await expect(row(tab, "live/two.txt")).to_be_visible()
    (stage.project / "live/one.txt").unlink()
    await expect(row(tab, "live/one.txt")).to_have_count(0)
    write(stage.project / ".git/info/exclude", "built\n")
    write(stage.project / "built/x", "")
    await expect(row(tab, "built")).to_be_hidden()
    await expect(row(tab, "built")).to_have_count(1)
    await tab.page.get_by_role("button", name="Show ignored files").click()
    await expect(row(tab, "built")).to_be_visible()

    edit = {"filePath": "hello.py", "oldString": "return 'hello'", "newString": "return 'bye'"}
    stage.plays(Turn(tools=[ToolUse("edit", edit)]), Turn(text="Done."))
    await tab.send("Change it.")
    await tab.idle()
    await expect(row(tab, "hello.py")).to_have_attribute("data-changed", "")
    await choose(tab, "hello.py", "Show its changes")
    await expect(tab.review.locator("[data-file='hello.py'] table.diff")).to_be_visible()


async def test_letters_find_a_file_and_enter_opens_it(stage: Stage, context: BrowserContext) -> None:
    write(stage.project / "found/some/needle.py", "x = 1\n")
    tab = await listed(stage, context, "found")
    field = tab.page.get_by_label("Find a file by its name")
    await field.fill("some/ndl")
    await expect(tab.page.locator("#files-tree .files-row")).to_have_count(1)
    await field.press("Enter")
    await expect(tab.page.get_by_role("textbox", name="Text of needle.py")).to_contain_text("x = 1")
    await field.fill("")
    await expect(row(tab, "hello.py")).to_be_visible()


async def test_who_types_before_the_tree_has_come_goes_on_typing(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await stage.tab(context, await stage.session("typed early"))
    held = await hold(tab.page, "**/files/tree*")
    await tab.page.keyboard.press("Control+Shift+E")
    await held.asked.wait()
    field = tab.page.get_by_label("Find a file by its name")
    await field.click()
    held.free.set()
    await expect(row(tab, "hello.py")).to_be_visible()
    await tab.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    await expect(field).to_be_focused()


async def test_an_opened_file_has_the_keyboard_though_its_row_came_anew(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await listed(stage, context, "opens late")
    come, free = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        come.set()
        await free.wait()
        await route.continue_()

    field = tab.page.get_by_label("Find a file by its name")
    await field.fill("hello.py")
    await expect(tab.page.locator("#files-tree .files-row")).to_have_count(1)
    await tab.page.route("**/files/view*", hold)
    await line(tab, "hello.py").click()
    await come.wait()
    async with tab.page.expect_response("**/files/tree*"):
        await field.dispatch_event("input")
    await row(tab, "hello.py").focus()
    free.set()
    await expect(tab.page.get_by_role("textbox", name="Text of hello.py")).to_be_focused()


async def test_letters_typed_before_the_search_has_come_are_for_it(
    stage: Stage, context: BrowserContext
) -> None:
    write(stage.project / "early/bird.txt", "one wormwood\n")
    tab = await stage.tab(context, await stage.session("searches early"))
    held = await hold(tab.page, re.compile(r"\+files-find\.js$"))
    await tab.prompt.focus()
    await tab.page.keyboard.press("Control+Shift+F")
    await held.asked.wait()
    await tab.page.keyboard.type("wormwood")
    held.free.set()
    await expect(tab.page.locator(".find-end")).to_have_text("1 line in 1 file.")
    await expect(tab.page.get_by_role("searchbox", name="Search in the files")).to_be_focused()
    await expect(tab.prompt).to_have_value("")


async def test_files_are_dropped_into_a_folder(stage: Stage, context: BrowserContext) -> None:
    write(stage.project / "dropped/here.txt", "x\n")
    tab = await listed(stage, context, "drops")
    data = await tab.page.evaluate_handle(DROPPED)
    await line(tab, "dropped").dispatch_event("drop", {"dataTransfer": data})
    await expect(tab.page.locator(".toast", has_text="Uploaded dropped/new.txt.")).to_be_visible()
    assert await asyncio.to_thread((stage.project / "dropped/new.txt").read_text) == "text"


async def test_what_files_hold_is_found_and_replaced(stage: Stage, context: BrowserContext) -> None:
    write(stage.project / "sought/one.txt", "a needle here\nand Needle there\nneedles\n")
    write(stage.project / "sought/two.py", "needle = 1\n")
    tab = await stage.tab(context, await stage.session("seeks"))
    page = tab.page
    await page.keyboard.press("Control+Shift+F")
    field = page.get_by_role("searchbox", name="Search in the files")
    await expect(field).to_be_focused()
    await field.fill("needle")
    await expect(page.locator(".find-end")).to_have_text("4 lines in 2 files.")
    await page.get_by_label("Whole words").check()
    await expect(page.locator(".find-end")).to_have_text("3 lines in 2 files.")
    await page.locator(".find-line", has_text="there").click(modifiers=["Control"])
    await expect(tab.prompt).to_have_value("@sought/one.txt#L2 ")
    await page.locator(".find-line").first.press("@")
    await page.get_by_role("button", name="Add the lines to the prompt").click()
    mentioned = (await tab.prompt.input_value()).split()
    assert len(mentioned) == 5, mentioned
    assert {one.partition("#")[0] for one in mentioned} == {"@sought/one.txt", "@sought/two.py"}
    await page.locator(".find-line", has_text="there").click()
    await expect(page.locator(".opened:visible .opened-place-of")).to_have_text("Line 2, column 5")

    await page.get_by_label("Replace it").check()
    await page.get_by_label("What is to be in its place").fill("pin")
    one = page.get_by_role("region", name="one.txt")
    await expect(one.locator("ins").first).to_have_text("pin")
    await one.get_by_label("Replace in line 2").uncheck()
    await page.get_by_role("button", name="All", exact=True).click()
    toast = page.locator(".toast", has_text="Replaced in 2 lines of 2 files.")
    await expect(toast).to_be_visible()
    assert (stage.project / "sought/one.txt").read_text() == "a pin here\nand Needle there\nneedles\n"
    assert (stage.project / "sought/two.py").read_text() == "pin = 1\n"
    await toast.get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast", has_text="Undone")).to_be_visible()
    await expect(page.locator(".find-end")).to_contain_text("Files have changed since.")
    assert (stage.project / "sought/two.py").read_text() == "needle = 1\n"


async def test_files_move_by_dragging_and_by_keys_and_it_is_undone(
    stage: Stage, context: BrowserContext
) -> None:
    root = stage.project
    write(root / "moves/one.txt", "1\n")
    write(root / "moves/two.txt", "2\n")
    (root / "moves/into/deep").mkdir(parents=True)
    tab = await listed(stage, context, "moves")
    await line(tab, "moves").click()
    await line(tab, "moves/one.txt").drag_to(line(tab, "moves/into"))
    await expect(row(tab, "moves/into/one.txt")).to_be_visible()
    await expect(row(tab, "moves/one.txt")).to_have_count(0)
    toast = tab.page.locator(".toast", has_text="Moved moves/one.txt to moves/into/one.txt.")
    await toast.get_by_role("button", name="Undo").click()
    await expect(row(tab, "moves/one.txt")).to_be_visible()
    await expect(row(tab, "moves/into/one.txt")).to_have_count(0)

    keyboard = tab.page.keyboard
    await row(tab, "moves/two.txt").focus()
    await keyboard.press("Control+x")
    await expect(row(tab, "moves/two.txt")).to_have_attribute("data-cut", "")
    await row(tab, "moves/into").focus()
    await keyboard.press("Control+v")
    await expect(row(tab, "moves/into/two.txt")).to_be_visible()
    for copy in ("two copy.txt", "two copy 2.txt"):
        await row(tab, "moves/into/two.txt").focus()
        await keyboard.press("Control+c")
        await keyboard.press("Control+v")
        await expect(row(tab, f"moves/into/{copy}")).to_be_visible()

    await line(tab, "moves/into").drag_to(line(tab, "moves/into/deep"))
    await expect(tab.page.locator(".toast", has_text="A folder cannot go into itself.")).to_be_visible()
    assert (root / "moves/into/two.txt").read_text() == "2\n"
