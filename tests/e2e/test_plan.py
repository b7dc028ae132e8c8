"""Questions answered by keyboard, and plan mode from the badge over the plan to its approval."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.async_api import BrowserContext, expect

from tests.e2e.conftest import FILES
from tests.e2e.stage import Stage, Tab, hold, ready
from tests.loopback.script import ToolUse, Turn

pytestmark = [pytest.mark.e2e, pytest.mark.asyncio(loop_scope="session")]

QUESTIONS = [
    {
        "question": "Which <b>database</b> shall it be?",
        "header": "Database",
        "options": [
            {"label": "PostgreSQL (recommended)", "description": "What the deployment has already"},
            {"label": "SQLite", "description": "Nothing to install"},
        ],
    },
    {
        "question": "What shall be stored?",
        "header": "Contents",
        "options": [{"label": "Users"}, {"label": "Orders"}, {"label": "Logs"}],
        "multiple": True,
    },
]
ASK = Turn(tools=[ToolUse("question", {"questions": QUESTIONS})])
EXIT = Turn(tools=[ToolUse("plan_exit", {})])
PLAN = "# Farewell\n\n1. Edit `hello.py`\n2. Run the tests\n\n<script>alert(1)</script>\n"
EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}
BACK = {"filePath": "hello.py", "oldString": "'goodbye'", "newString": "'hello'"}


@pytest.mark.long
async def test_questions_by_keyboard(stage: Stage, context: BrowserContext) -> None:
    stage.plays(ASK, Turn(text="Agreed."))
    tab = await stage.tab(context, await stage.session("asks"))
    other = await stage.tab(context, tab.session_id)
    await tab.page.bring_to_front()
    await tab.send("Store it.")
    form = tab.page.locator("form.question")
    await expect(form).to_contain_text("Which <b>database</b> shall it be?")
    await ready(form)
    await expect(tab.prompt).to_be_focused()
    await tab.page.keyboard.press("Control+.")
    await expect(form.locator("h2")).to_be_focused()
    await expect(tab.item(tab.session_id).locator(".dot")).to_have_attribute("data-state", "waiting")
    await expect(tab.page.locator(".asked-waits")).to_have_text("Waiting for you")
    await tab.page.keyboard.press("2")
    await expect(form.get_by_label("SQLite")).to_be_checked()
    await tab.page.keyboard.press("Escape")
    await expect(tab.prompt).to_be_focused()
    await expect(form).to_be_visible()
    await tab.page.reload()
    await tab.connected()
    await expect(form.get_by_label("SQLite")).to_be_checked()
    await ready(form)
    await tab.page.keyboard.press("Control+.")
    await tab.page.keyboard.press("1")
    await tab.page.keyboard.press("Enter")
    await expect(form.get_by_label("Users")).to_be_focused()
    await tab.page.keyboard.press("1")
    await tab.page.keyboard.press("3")
    await tab.page.keyboard.press("4")
    await tab.page.keyboard.type("2 sorts of invoices")
    await expect(other.page.locator("form.question")).to_be_visible()
    await tab.page.keyboard.press("Enter")
    for page in (tab, other):
        await expect(page.messages).to_contain_text("Agreed.")
        await expect(page.page.locator("form.question")).to_have_count(0)
        card = page.page.locator(".asked-answers")
        await expect(card).to_contain_text("PostgreSQL (recommended)")
        await expect(card.locator("dd")).to_have_text(
            ["PostgreSQL (recommended)", "Users", "Logs", "2 sorts of invoices"]
        )
    await expect(tab.prompt).to_be_focused()


@pytest.mark.long
async def test_an_unanswered_question_is_named_and_a_second_answer_refused(
    stage: Stage, context: BrowserContext
) -> None:
    stage.plays(ASK, Turn(text="Agreed."))
    tab = await stage.tab(context, await stage.session("asks twice"))
    await tab.send("Store it.")
    form = tab.page.locator("form.question")
    await form.get_by_role("button", name="Answer").click()
    await expect(form.get_by_role("alert")).to_contain_text("“Database” has no answer yet")
    await form.get_by_label("SQLite").check()
    url = f"{stage.server.url}/questions/{await form.get_attribute('id')}/reply"
    headers = await tab.page.evaluate("() => JSON.parse(document.body.getAttribute('hx-headers'))")
    headers["Origin"] = stage.server.url
    first = await tab.page.request.post(url, headers=headers, form={"q0": "1"})
    second = await tab.page.request.post(url, headers=headers, form={"q0": "0"})
    assert (first.status, second.status) == (200, 422)
    assert "answered already" in await second.text()
    await expect(tab.messages).to_contain_text("Agreed.")
    await expect(tab.page.locator(".asked-answers")).to_contain_text("SQLite")


async def test_dismissed_as_a_whole(stage: Stage, context: BrowserContext) -> None:
    stage.plays(ASK)
    tab = await stage.tab(context, await stage.session("dismisses"))
    await tab.send("Store it.")
    await tab.page.locator("form.question").get_by_role("button", name="Dismiss").click()
    await expect(tab.page.locator("form.question")).to_have_count(0)
    await tab.idle()
    await expect(tab.page.locator(".asked-card .tool-error")).to_contain_text("dismissed the question")


def writing(path: str, text: str) -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": path, "content": text})])


async def planning(stage: Stage, context: BrowserContext, title: str, *turns: Turn | str) -> Tab:
    """In plan mode the model writes PLAN and then does what `turns` say; a text is another plan."""
    session: dict[str, Any] = await stage.client.create_session(title)
    path = f".opencode/plans/{session['time']['created']}-{session['slug']}.md"
    stage.plays(*(writing(path, turn) if isinstance(turn, str) else turn for turn in (PLAN, *turns)))
    tab = await stage.tab(context, session["id"])
    await tab.choose("agent", "plan")
    await expect(tab.page.locator("#plan-badge")).to_contain_text("Plan mode")
    await tab.send("Plan a farewell.")
    return tab


async def test_the_plan_is_sent_back_and_then_approved(stage: Stage, context: BrowserContext) -> None:
    (stage.project / "hello.py").write_text(FILES["hello.py"])  # other tests change it
    build = Turn(tools=[ToolUse("edit", EDIT)])
    tab = await planning(
        stage, context, "plans", EXIT, f"{PLAN}3. The docs\n", EXIT, build, Turn(text="Built.")
    )
    plan = tab.review.locator("#plan")
    await expect(plan.get_by_role("heading", name="Farewell")).to_be_visible()
    await expect(plan).to_contain_text("<script>alert(1)</script>")
    await expect(plan).to_contain_text("waits for you")
    await expect(plan.locator(".plan-path")).to_have_text("Farewell")
    await expect(tab.page.locator(".plan-inline")).to_be_hidden()
    await expect(plan.get_by_role("button", name="Edit the plan")).to_have_count(1)
    await expect(plan.get_by_role("button", name="Approve")).to_have_count(0)
    form = tab.page.locator("form.question")
    await form.get_by_label("your own words").last.fill("mention the docs")
    await form.get_by_role("button", name="Answer").click()
    await expect(tab.page.locator(".asked-card .tool-error")).to_contain_text("mention the docs")
    await expect(tab.page.locator(".asked-card")).to_have_count(2)
    await expect(plan).to_contain_text("3. The docs")
    assert "'hello'" in (stage.project / "hello.py").read_text()
    await expect(tab.page.locator("#plan-badge").get_by_role("button")).to_have_count(0)
    await form.get_by_label("Yes").check()
    await form.get_by_role("button", name="Answer").click()
    await expect(tab.messages).to_contain_text("Built.")
    await expect(tab.page.locator("#plan-badge")).to_be_hidden()
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("build")
    steered = tab.page.locator(".message.user .steered")
    await expect(steered).to_have_text("Plan approved: building")
    await tab.page.reload()
    await expect(steered).to_have_text("Plan approved: building")
    await expect(tab.messages).not_to_contain_text("has been approved, you can edit files now")
    await expect(form).to_have_count(0)
    await expect(tab.page.locator("#plan-approve")).to_have_count(0)
    assert "'goodbye'" in (stage.project / "hello.py").read_text()
    stage.plays(Turn(tools=[ToolUse("edit", BACK)]), Turn(text="Back."))
    await tab.send("Take it back.")
    await expect(tab.messages).to_contain_text("Back.")


async def test_a_plan_nobody_asks_about_is_approved_as_the_next_prompt(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await planning(stage, context, "plans on", Turn(text="There it is."))
    await expect(tab.messages).to_contain_text("There it is.")
    stage.plays(Turn(text="Carried out."))
    await tab.page.locator("#plan-badge").get_by_role("button", name="Approve and build").click()
    await expect(tab.messages).to_contain_text("is approved. Carry it out.")
    await expect(tab.messages).to_contain_text("Carried out.")
    await expect(tab.page.locator("#choice [name=agent]")).to_have_value("build")


async def test_the_plan_is_edited_in_the_panel(stage: Stage, context: BrowserContext) -> None:
    tab = await planning(stage, context, "plans edited", Turn(text="There it is."))
    await expect(tab.messages).to_contain_text("There it is.")
    plan, field = tab.review.locator("#plan"), tab.page.get_by_label("The plan, as Markdown")
    [path] = (stage.project / ".opencode" / "plans").glob(f"*{await slug(stage, tab)}.md")
    await plan.get_by_role("button", name="Edit the plan").click()
    await expect(field).to_be_focused()
    await expect(field).to_have_value(PLAN)
    await field.fill("# Nothing yet")
    await plan.get_by_role("button", name="Cancel").click()
    await expect(plan.get_by_role("button", name="Edit the plan")).to_be_focused()
    assert path.read_text() == PLAN

    await plan.get_by_role("button", name="Edit the plan").click()
    await field.fill("# Mine\n\n1. Look\n")
    path.write_text("# Theirs\n")
    stage.plays(Turn(text="Renewed."))
    await tab.send("Go on.")
    await expect(tab.messages).to_contain_text("Renewed.")
    await tab.idle()
    await expect(field).to_have_value("# Mine\n\n1. Look\n")
    await plan.get_by_role("button", name="Save the plan").click()
    await expect(plan.get_by_role("alert")).to_contain_text("changed since you opened it")
    assert path.read_text() == "# Theirs\n"
    await plan.get_by_role("button", name="Replace it with mine").click()
    await expect(plan.get_by_role("heading", name="Mine")).to_be_visible()
    await expect(plan.get_by_role("button", name="Edit the plan")).to_be_focused()
    assert path.read_text() == "# Mine\n\n1. Look\n"


async def test_the_editor_of_the_plan_is_left_before_its_script_is_there(
    stage: Stage, context: BrowserContext
) -> None:
    tab = await planning(stage, context, "plans left", Turn(text="There it is."))
    await expect(tab.messages).to_contain_text("There it is.")
    held = await hold(tab.page, re.compile(r"plan-reading.*\.js"))
    plan = tab.review.locator("#plan")
    await plan.get_by_role("button", name="Edit the plan").click()
    await plan.get_by_role("button", name="Cancel").click()
    held.free.set()
    await expect(plan.get_by_role("button", name="Edit the plan")).to_be_focused()
    await expect(plan.get_by_label("The plan, as Markdown")).to_have_count(0)


async def test_passages_of_the_plan_are_commented(stage: Stage, context: BrowserContext) -> None:
    tab = await planning(stage, context, "plans commented", f"{PLAN}3. The docs\n", Turn(text="There it is."))
    await expect(tab.messages).to_contain_text("There it is.")
    await tab.idle()
    plan = tab.review.locator("#plan")
    await plan.get_by_role("button", name="Comment on line 1", exact=True).press("Enter")
    field = plan.get_by_label("Comment on line 1 of the plan")
    await expect(field).to_be_focused()
    await field.fill("Another title")
    await field.press("Escape")
    await expect(field).to_have_count(0)
    await expect(plan.get_by_role("button", name="Comment on line 1", exact=True)).to_be_focused()
    await plan.get_by_text("The docs").select_text()
    await plan.get_by_text("The docs").dispatch_event("pointerup")
    await plan.get_by_role("button", name="Comment on this").click()
    await plan.locator("textarea").fill("Which ones?")
    await plan.get_by_role("button", name="Add comment").click()
    await expect(plan.locator(".comment")).to_contain_text("Which ones?")
    await expect(plan.locator("textarea")).to_have_count(0)

    await plan.get_by_role("button", name="What changed").click()
    await expect(plan.locator("[data-kind=new]")).to_contain_text("The docs")
    await plan.get_by_role("button", name="What changed").click()
    await expect(plan.locator("[data-kind=new]")).to_have_count(0)
    narrow = await plan.evaluate("(plan) => plan.clientWidth")
    await plan.get_by_role("button", name="Wide").click()
    await expect(plan.get_by_role("button", name="Wide")).to_have_attribute("aria-pressed", "true")
    assert await plan.evaluate("(plan) => plan.clientWidth") > narrow

    stage.plays(Turn(text="Heard."))
    await tab.page.locator("#comment-tray").get_by_role("button", name="Send to the agent").click()
    await expect(tab.messages).to_contain_text("My comments on the plan:")
    await expect(plan.locator(".comment")).to_contain_text("Answered")


async def slug(stage: Stage, tab: Tab) -> str:
    return str((await stage.client.session(tab.session_id))["slug"])


async def test_a_plan_among_the_changes_is_only_read(stage: Stage, context: BrowserContext) -> None:
    tab = await planning(
        stage, context, "plans listed", writing("notes.txt", "a\n"), Turn(text="There it is.")
    )
    await expect(tab.messages).to_contain_text("There it is.")
    file = tab.review.locator(".file[data-file*='.opencode/plans/']")
    await expect(file.get_by_role("button", name="Comment").first).to_be_attached()
    await expect(file.locator(".verdict")).to_have_count(0)


async def test_on_a_phone_the_question_shows_the_plan(stage: Stage, context: BrowserContext) -> None:
    tab = await planning(stage, context, "plans small", EXIT, Turn(text="Built."))
    await tab.page.set_viewport_size({"width": 390, "height": 844})
    form = tab.page.locator("form.question")
    await expect(form.get_by_role("region", name="The plan")).to_contain_text("Run the tests")
    wide = await tab.page.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= 390
    await form.get_by_label("Yes").check()
    await form.get_by_role("button", name="Answer").click()
    await expect(tab.messages).to_contain_text("Built.")
