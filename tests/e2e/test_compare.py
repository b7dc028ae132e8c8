"""A comparison by hand: begun by `/compare`, watched, its changes looked at, taken, combined, cleaned up."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
from playwright.async_api import BrowserContext, Page, expect

from tests.e2e.stage import Stage, Tab
from tests.loopback.script import ToolUse, Turn, Wait

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]


def attempt(content: str) -> tuple[Turn, Turn]:
    write = ToolUse("write", {"filePath": "answer.txt", "content": content})
    return Turn(tools=[write]), Turn(text="I wrote it.")


def judged(best: int) -> Turn:
    words = [{"number": 1, "words": "It is wrong."}, {"number": 2, "words": "It is what was asked for."}]
    return Turn(text=json.dumps({"best": best, "reason": "Only it is right.", "attempts": words}))


@pytest.fixture
def answering(stage: Stage) -> Stage:
    """Its project has an answer, which is committed."""
    path = stage.project / "answer.txt"
    path.write_text("".join(f"{number}\n" for number in range(1, 41)))
    for arguments in (["add", "answer.txt"], ["commit", "-q", "--allow-empty", "-m", "An answer"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=stage.project, check=True)
    return stage


def answer(*lines: int) -> str:
    """The answer with other words in these lines."""
    return "".join(f"line {number}\n" if number in lines else f"{number}\n" for number in range(1, 41))


async def begin(tab: Tab, prompt: str, checks: str, *, judge: str = "") -> Page:
    """Two attempts of the default model, one after the other."""
    await tab.prompt.fill(f"/compare {prompt}")
    await tab.prompt.press("Enter")
    dialog = tab.page.get_by_role("dialog", name="Try it several ways")
    await expect(dialog.get_by_label("What is to be done")).to_have_value(prompt)
    await dialog.get_by_role("textbox", name="Checks").fill(checks)
    await dialog.get_by_label("At once").fill("1")
    await dialog.get_by_label("Who judges").select_option(judge)
    await dialog.get_by_role("button", name="Begin").click()
    await tab.page.wait_for_url(re.compile("/compare/cmp_"))
    return tab.page


async def test_the_best_is_taken_and_the_rest_cleaned_up(answering: Stage, context: BrowserContext) -> None:
    answering.plays(*attempt(answer(3)), *attempt(answer(5)), judged(2))
    tab = await answering.tab(context, await answering.session("one that compares"))
    page = await begin(tab, "Change the fifth line", "grep -qx 'line 5' answer.txt")
    status = page.locator("#comparison [role=status]")
    await expect(status).to_contain_text("Done: Only it is right.")
    rows = page.locator(".compare-table tbody")
    await expect(rows).to_have_count(2)
    await expect(rows.nth(0)).to_contain_text("0 of 1")
    await expect(rows.nth(0)).to_contain_text("It is wrong.")
    await expect(rows.nth(1)).to_contain_text("1 of 1")
    await expect(rows.nth(1)).to_contain_text("Best, says the judge")
    await rows.nth(0).get_by_role("button", name="Log 1").click()
    log = page.get_by_role("dialog", name="What was measured of attempt 1")
    await expect(log.locator("details[open] summary")).to_contain_text("grep -qx")
    await log.get_by_role("button", name="Close").click()

    await rows.nth(1).get_by_role("button", name="Take 2").click()
    take = page.get_by_role("dialog", name="Take from attempt 2")
    await expect(take.get_by_role("listitem")).to_contain_text("answer.txt")
    await take.get_by_role("button", name="Take", exact=True).click()
    await expect(page.locator("#toasts")).to_contain_text("Took changes of 1 file.")
    assert (answering.project / "answer.txt").read_text() == answer(5)
    await expect(rows.nth(1)).to_contain_text("Taken")

    await page.get_by_role("button", name="Clean up…").click()
    clean = page.get_by_role("dialog", name="Remove the worktrees")
    await expect(clean.get_by_role("checkbox")).to_have_count(2)
    await expect(clean.get_by_role("checkbox").nth(0)).to_be_checked()
    await expect(clean.get_by_role("checkbox").nth(1)).not_to_be_checked()
    await expect(clean.get_by_role("listitem").first).to_contain_text("1 file with changes")
    await clean.get_by_role("button", name="Remove").click()
    await expect(page.locator("#toasts")).to_contain_text("Removed 1 worktree.")
    await page.get_by_role("link", name="Open session 2").click()
    await expect(page.locator("#messages")).to_contain_text("Change the fifth line")


async def test_hunks_of_two_are_taken_together(answering: Stage, context: BrowserContext) -> None:
    answering.plays(*attempt(answer(3, 20)), *attempt(answer(20, 38)))
    tab = await answering.tab(context, await answering.session("one that takes hunks"))
    page = await begin(tab, "Change some lines", "", judge="none")
    await expect(page.locator("#comparison [role=status]")).to_have_text("Done")
    changes = page.get_by_role("region", name="What each has changed")
    for number in (0, 1):
        await changes.locator("summary").nth(number).click()
    hunks = changes.get_by_label("Take this hunk")
    await expect(hunks).to_have_count(4)
    await changes.get_by_role("button", name="Take what is chosen…").click()
    await expect(changes.get_by_role("alert")).to_contain_text("Choose what is to be taken first.")
    await hunks.nth(0).check()
    await hunks.nth(3).check()
    await changes.get_by_role("button", name="Take what is chosen…").click()
    take = page.get_by_role("dialog", name="Take from attempts 1, 2")
    await take.get_by_role("button", name="Take", exact=True).click()
    await expect(page.locator("#toasts")).to_contain_text("Took changes of 1 file.")
    assert (answering.project / "answer.txt").read_text() == answer(3, 38)
    await page.locator("#toasts").get_by_role("button", name="Undo").click()
    await expect(page.locator("#toasts")).to_contain_text("Undone")
    assert (answering.project / "answer.txt").read_text() == answer()

    between = page.get_by_role("region", name="Two against each other")
    await between.get_by_role("button", name="Show").click()
    await expect(between.locator("table.split")).to_be_visible()
    await expect(between.locator(".line.new.add")).to_have_text(["3", "line 38"])


async def test_one_is_added_stopped_and_all_are_combined(answering: Stage, context: BrowserContext) -> None:
    answering.plays(*attempt(answer(1)), Turn(text=["I begin", Wait("never")]), Turn(text="I combined them."))
    tab = await answering.tab(context)
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("compare")
    await tab.page.get_by_role("option", name="Compare:").click()
    dialog = tab.page.get_by_role("dialog", name="Try it several ways")
    await dialog.get_by_label("What is to be done").fill("Do it three times")
    await dialog.get_by_label("Model").nth(1).fill("nothing")
    await dialog.get_by_label("At once").fill("1")
    await dialog.get_by_role("button", name="Begin").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("write provider/model")
    await dialog.get_by_label("Model").nth(1).fill("fake/fake")
    await dialog.get_by_role("button", name="Another attempt").click()
    await expect(dialog.get_by_role("group")).to_have_count(3)
    await dialog.get_by_role("button", name="Another attempt").click()
    await dialog.get_by_role("button", name="Without attempt 4").click()
    await expect(dialog.get_by_role("group")).to_have_count(3)
    await dialog.get_by_role("button", name="Begin").click()
    page = tab.page
    rows = page.locator(".compare-table tbody")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(1)).to_contain_text("Works")
    await page.get_by_role("button", name="Stop").click()
    await expect(page.locator("#comparison [role=status]")).to_contain_text("Done: You stopped it.")
    await expect(rows.nth(2)).to_contain_text("Not begun")
    await page.get_by_role("button", name="Combine several…").click()
    combine = page.get_by_role("dialog", name="Combine several")
    await expect(combine.get_by_role("checkbox")).to_have_count(2)
    await combine.get_by_label("What you say to it").fill("Keep it short.")
    await combine.get_by_role("button", name="Begin").click()
    await expect(page.locator("#messages")).to_contain_text("I combined them.")
    await expect(page.locator("#messages")).to_contain_text("Keep it short.")
    await page.goto(f"{answering.server.url}{answering.home_path}comparisons")
    await expect(page.get_by_role("link", name="Do it three times")).to_be_visible()
