"""Nothing is answered that nobody answered: keys that are held, clicks that were meant for something else,
words for the prompt."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.stage import Stage, Tab, ready
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

NAMES = ("one", "two", "three")
DRAWN = """
() => new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    const button = document.querySelector(".permission .once");
    if (!button) return;
    observer.disconnect();
    const answer = () => resolve(button.getBoundingClientRect().toJSON());
    requestAnimationFrame(() => requestAnimationFrame(answer));
  }).observe(document.getElementById("states"), { childList: true, subtree: true });
})
"""
"""Where the button of the first card is, in the frame after it came."""


async def asked(stage: Stage, context: BrowserContext, title: str) -> tuple[Tab, list[Path]]:
    """A page with three cards, and the files that their commands would make."""
    files = [stage.project / f"{title}-{name}" for name in NAMES]
    calls = [ToolUse("bash", {"command": f"touch {file.name}"}) for file in files]
    stage.plays(Turn(tools=calls), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session(title))
    await tab.send("Make them.")
    await expect(tab.permissions).to_have_count(3)
    return tab, files


async def one_made(tab: Tab, files: list[Path]) -> None:
    """One command has run, and no other."""
    await expect(tab.page.locator(".tool[data-status=completed]")).to_have_count(1)
    assert sum(file.exists() for file in files) == 1


async def hold(tab: Tab, key: str, times: int = 40) -> None:
    """As a keyboard does it: pressed once, then again and again."""
    for _ in range(times):
        await tab.page.keyboard.down(key)
        await tab.page.wait_for_timeout(30)
    await tab.page.keyboard.up(key)


async def test_a_held_key_answers_one_card(stage: Stage, context: BrowserContext) -> None:
    tab, files = await asked(stage, context, "held")
    await ready(tab.permissions.first)
    await tab.permissions.first.get_by_role("button", name="Allow once").focus()
    await hold(tab, "Enter")
    await expect(tab.permissions).to_have_count(2)
    await one_made(tab, files)
    await expect(tab.permissions.first.locator(".what")).to_be_focused()
    await tab.stop.click()
    await tab.idle()


@pytest.mark.long
async def test_a_held_key_answers_one_entry_of_the_inbox(stage: Stage, context: BrowserContext) -> None:
    tab, files = await asked(stage, context, "inbox")
    await tab.page.locator("#inbox-button").click()
    entry = tab.page.locator(f"#inbox-{tab.session_id} .inbox-entry").first
    await ready(entry)
    await entry.locator(".inbox-head").focus()
    await hold(tab, "a")
    await tab.page.keyboard.press("Escape")
    await expect(tab.permissions).to_have_count(2)
    await one_made(tab, files)
    await tab.stop.click()
    await tab.idle()


async def test_a_held_enter_sends_one_prompt(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(text=["Heard", Wait("held"), "."]))
    tab = await stage.tab(context, await stage.session("holds"))
    await tab.prompt.fill("Once.")
    await hold(tab, "Enter", 10)
    stage.model.gate("held").open()
    await expect(tab.messages).to_contain_text("Heard.")
    await tab.idle()
    await expect(tab.page.locator(".message.user")).to_have_count(1)
    await expect(tab.page.locator("#composer-problem")).to_be_empty()


async def test_a_double_click_answers_one_card(stage: Stage, context: BrowserContext) -> None:
    tab, files = await asked(stage, context, "double")
    last = tab.permissions.last.get_by_role("button", name="Allow once")
    await ready(tab.permissions.last)
    box = await last.bounding_box()
    assert box
    await tab.page.mouse.click(box["x"] + 10, box["y"] + 10, click_count=2, delay=90)
    await expect(tab.permissions).to_have_count(2)
    await tab.page.mouse.click(box["x"] + 10, box["y"] + 10)
    await ready(tab.permissions.last)
    await one_made(tab, files)
    await expect(tab.permissions).to_have_count(2)
    await tab.stop.click()
    await tab.idle()


async def test_a_click_meant_for_what_was_there_allows_nothing(stage: Stage, context: BrowserContext) -> None:
    stage.plays(Turn(tools=[ToolUse("bash", {"command": "touch too-early"})]), Turn(text="Done."))
    tab = await stage.tab(context, await stage.session("early"))
    drawn = asyncio.ensure_future(tab.page.evaluate(DRAWN))
    await tab.send("Make it.")
    where = await drawn
    await tab.page.mouse.click(where["x"] + 10, where["y"] + 10)
    await ready(tab.permissions)
    await expect(tab.permissions).to_have_count(1)
    assert not (stage.project / "too-early").exists()
    await tab.permissions.get_by_role("button", name="Allow once").click()
    await tab.idle()
    assert (stage.project / "too-early").exists()


async def test_words_for_the_prompt_answer_no_question(stage: Stage, context: BrowserContext) -> None:
    options = [{"label": "Left"}, {"label": "Right"}]
    question = {"question": "Which way?", "header": "Way", "options": options}
    stage.plays(
        Turn(tools=[ToolUse("question", {"questions": [question]})]), Turn(text="Gone."), Turn(text="More.")
    )
    tab = await stage.tab(context, await stage.session("words"))
    await tab.send("Go.")
    form = tab.page.locator("form.question")
    await expect(form).to_be_visible()
    await ready(form)
    await expect(tab.prompt).to_be_focused()
    await tab.page.keyboard.type("2 more tests please")
    await expect(tab.prompt).to_have_value("2 more tests please")
    await tab.page.keyboard.press("Enter")
    await expect(tab.page.locator("#queue")).to_contain_text("2 more tests please")
    await expect(form).to_be_visible()
    await form.get_by_label("Left").check()
    await tab.page.keyboard.type("no, wait")  # where nothing is written, they are the prompt's
    await expect(tab.prompt).to_have_value("no, wait")
    await tab.prompt.fill("")
    await form.get_by_role("button", name="Answer").click()
    await expect(tab.messages).to_contain_text("More.")  # the answer to what waited
    await tab.idle()
    await expect(tab.messages).to_contain_text("Left")


async def test_words_beside_a_choice_are_the_answer(stage: Stage, context: BrowserContext) -> None:
    options = [{"label": "Left"}, {"label": "Right"}]
    question = {"question": "Which way?", "header": "Way", "options": options}
    stage.plays(Turn(tools=[ToolUse("question", {"questions": [question]})]), Turn(text="Gone."))
    tab = await stage.tab(context, await stage.session("own words"))
    await tab.send("Go.")
    await tab.page.locator("#inbox-button").click()
    entry = tab.page.locator(".inbox-entry", has_text="Way")
    await entry.locator(".inbox-head").click()
    form = entry.locator("form.question")
    await form.get_by_label("Left").check()
    await form.get_by_label("Way: your own words").fill("No: straight on, slowly")
    await form.get_by_role("button", name="Answer").click()
    await tab.page.keyboard.press("Escape")
    await tab.idle()
    said = str(stage.model.requests[-1].body["messages"]).rpartition("The user answered")[2]
    assert "straight on, slowly" in said
    assert "Left" not in said


async def test_files_pasted_just_before_they_are_sent_go_with_the_prompt(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(Turn(text="Seen."))
    tab = await stage.tab(context, await stage.session("pasted"))
    await tab.prompt.fill("Look at these.")
    await tab.page.evaluate(
        """() => {
          const clipboardData = new DataTransfer();
          for (const name of ["a", "b", "c"]) {
            clipboardData.items.add(new File([name.repeat(300_000)], `${name}.txt`, { type: "text/plain" }));
          }
          const field = document.getElementById("prompt");
          const how = { clipboardData, bubbles: true, cancelable: true };
          field.dispatchEvent(new ClipboardEvent("paste", how));
          field.form.requestSubmit();
        }"""
    )
    await expect(tab.messages).to_contain_text("Seen.")
    for name in ("a.txt", "b.txt", "c.txt"):
        await expect(tab.messages.locator(".message.user")).to_contain_text(name)
    await expect(tab.page.locator("#attachments li")).to_have_count(0)


async def test_a_dialog_in_which_something_is_written_stays(stage: Stage, context: BrowserContext) -> None:
    tab = await stage.tab(context, await stage.session("written"))
    await tab.page.goto(f"{stage.server.url}/servers?project={stage.home_path.strip('/').split('/')[-1]}")
    await tab.page.get_by_role("button", name="Add a server").click()
    name = tab.page.get_by_label("Name", exact=True)
    await name.fill("half a name")
    box = await tab.dialog.bounding_box()
    field = await name.bounding_box()
    assert box
    assert field
    await tab.page.mouse.move(field["x"] + 20, field["y"] + 5)
    await tab.page.mouse.down()
    await tab.page.mouse.move(box["x"] - 30, box["y"] + 5)
    await tab.page.mouse.up()
    await expect(name).to_have_value("half a name")
    await tab.page.mouse.click(box["x"] - 30, box["y"] + 5)
    await expect(name).to_have_value("half a name")
    await name.fill("")
    await tab.page.mouse.click(box["x"] - 30, box["y"] + 5)
    await expect(tab.dialog).to_have_count(0)
