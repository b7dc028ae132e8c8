"""The states of projects and sessions: how one gets there, and which addresses answer on the way."""

from __future__ import annotations

import json
from base64 import b64decode

from playwright.async_api import FilePayload, Locator, Page, expect

from tests.e2e.access.scan import NARROW
from tests.e2e.access.state import dialog, shown, state
from tests.e2e.access.world import World, settled
from tests.e2e.stage import Tab
from tests.e2e.test_composer import PNG
from tests.loopback.script import ToolUse, Turn, Wait

# Before and beside a project


@state()
async def sign_in(world: World) -> Page:
    browser = world.context.browser
    assert browser is not None
    page = await (await browser.new_context()).new_page()
    await page.goto(f"{world.url}/login")
    return page


@state("/")
async def home(world: World) -> Page:
    page = await world.page(f"{world.url}/?choose")
    await page.locator(".overview-box").first.check()
    return await shown(page, page.locator("#overview-chosen"))


@state("/overview", "/overview/views")
async def overview_as_a_list(world: World) -> Page:
    page = await world.page(f"{world.url}/?choose")
    await page.get_by_role("button", name="List").click()
    async with page.expect_response("**/overview/views*"):
        await page.get_by_role("searchbox", name="Filter").fill("o")
    return await shown(page, page.get_by_role("button", name="Save this view"))


@state("{base}/glance")
async def glance(world: World) -> Page:
    tab = await world.tab("undone")
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("w")
    return await shown(tab.page, tab.page.locator("#glance-title"))


@state("{base}/preview")
async def preview(world: World) -> Page:
    tab = await world.tab("undone")
    await tab.page.locator("#scroller").focus()
    await tab.page.keyboard.press("g")
    await tab.page.keyboard.press("v")
    around = tab.page.frame_locator("#preview > iframe")
    return await shown(tab.page, around.get_by_role("link", name="Look again"))


@state("/nothing/<pwned>")
async def not_found(world: World) -> Page:
    return await world.page(f"{world.url}/nothing/<pwned>")


@state("/mcp/oauth/callback")
async def sign_in_of_a_server_that_failed(world: World) -> Page:
    return await world.page(f"{world.url}/mcp/oauth/callback?state=none&error_description=no")


@state("/import", "/import/found")
async def importing(world: World) -> Page:
    page = await world.page(f"{world.url}/import")
    return await shown(page, page.locator("#import-found form"))


@state("/accounts/server")
async def model_server(world: World) -> Page:
    page = await world.page(f"{world.url}/accounts")
    await page.get_by_text("Add a server of your own").click()
    await page.get_by_label("Name", exact=True).fill("Here")
    await page.get_by_label("Address (http").fill(f"{world.url}/nothing")
    await page.get_by_role("button", name="Look").click()
    return await shown(page, page.locator("#model-server-models .problem"))


@state("/accounts", "/accounts/forges")
async def accounts(world: World) -> Page:
    page = await world.page(f"{world.url}/accounts")
    await page.locator(".account summary").first.click()
    return await shown(page, page.locator(".account").first)


@state()
async def a_key_that_a_plugin_asks_more_about(world: World) -> Page:
    page = await world.page(f"{world.url}/accounts")
    await page.locator(".account summary", has_text="Far").click()
    return await shown(page, page.get_by_label("Its host"))


@state()
async def a_sign_in_of_a_plugin_that_waits_for_a_code(world: World) -> Page:
    page = await world.page(f"{world.url}/accounts")
    code = page.get_by_label("The code that the sign-in page shows")
    if not await code.count():
        await page.locator(".account summary", has_text="Sign in with Acme").click()
        await page.get_by_label("Your team").fill("blue")
        await page.keyboard.press("Enter")
    return await shown(page, code)


@state("/settings", "/settings/store/{project}", "/settings/sandbox", "/settings/programs")
async def settings(world: World) -> Page:
    page = await world.page(f"{world.url}/settings")
    await page.get_by_text("Write in the workspace").wait_for()
    await page.get_by_label("Name of another one").wait_for()
    await page.locator(".store-projects summary").first.click()
    return await shown(page, page.locator(".holdings li"))


@state("/search")
async def search(world: World) -> Page:
    page = await world.page(f"{world.url}/search?q=line&project={world.project.split('/')[-2]}")
    return await shown(page, page.locator(".hit mark"))


@state()
async def search_without_words(world: World) -> Page:
    page = await world.page(f"{world.url}/search")
    return await shown(page, page.get_by_role("button", name="has:error"))


@state("{base}/parts/{part}/app")
async def an_app_that_wants_to_reach_something(world: World) -> Page:
    page = (await world.tab("app")).page
    return await shown(page, page.get_by_role("button", name="Show it without"))


@state("{base}/parts/{part}/app/frame")
async def an_app(world: World) -> Page:
    page = await an_app_asked_about(world)
    return await shown(page, page.frame_locator(".mcp-app iframe").get_by_text("21 degrees"))


@state()
async def an_app_that_suggests_a_prompt(world: World) -> Page:
    page = await an_app_asked_about(world)
    await page.frame_locator(".mcp-app iframe").get_by_role("button", name="Ask about it").click()
    return await shown(page, page.get_by_role("button", name="Put it into the prompt"))


async def an_app_asked_about(world: World) -> Page:
    page = (await world.tab("app")).page
    await page.get_by_role("button", name="Show it without").click()
    return page


# Sessions


@state()
async def words_that_were_found(world: World) -> Page:
    page = await world.page(f"{world.url}/search?q=seq")
    await page.locator(".hit").first.click()
    return await shown(page, page.locator(".found-bar"))


@state("/p/{project}/s/", "/p/{project}/checkout", "/pickers/status", "/pickers/choice")
async def new_session(world: World) -> Page:
    return (await world.tab()).page


@state("{base}", "{base}/review", "{base}/parts/{part}/output")
async def session(world: World) -> Page:
    page = (await world.tab("worked")).page
    for name in ("seq 200", "hello.py", "work.py"):
        await page.locator(".tool", has_text=name).locator("summary").first.click()
    return await shown(page, page.locator(".tool-output"))


@state()
async def drawn(world: World) -> Page:
    page = (await world.tab("drawn")).page
    await expect(page.locator(".katex")).to_have_count(2)
    await expect(page.locator(".diagram-problem:visible")).to_have_count(1)
    return await shown(page, page.get_by_role("img", name="Diagram"))


@state()
async def working(world: World) -> Page:
    world.stage.plays(Turn(text=["# A heading\n\nThe first words", Wait("never")]))
    tab = await world.tab("planning")
    await tab.send("Go on.")
    await expect(tab.messages).to_contain_text("The first words")
    await tab.prompt.fill("What waits")
    return await shown(tab.page, tab.stop)


@state("{base}/plan/edit")
async def a_plan(world: World) -> Page:
    page = await drafted(world)
    await page.get_by_role("button", name="Edit the plan").click()
    return await shown(page, page.locator("#plan-edit textarea"))


async def drafted(world: World) -> Page:
    """A session with a plan, which is unfolded."""
    session = await world.stage.client.create_session("drafted")
    plan = world.stage.project / ".opencode" / "plans" / f"{session['time']['created']}-{session['slug']}.md"
    plan.parent.mkdir(parents=True, exist_ok=True)
    plan.write_text("# Farewell\n\n1. Edit `hello.py`\n")
    world.sessions["drafted"] = session["id"]
    page = (await world.tab("drafted")).page
    changed = page.get_by_role("button", name="Changed files", exact=True)
    if await changed.get_attribute("aria-expanded") == "false":  # as it was left
        await changed.click()
    await page.locator("#plan summary").click()
    return page


@state("/open-in")
async def open_in(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.get_by_role("button", name="Actions for this session").click()
    return await dialog(page, page.get_by_role("menuitem", name="Open the folder in…"))


@state("{base}/plan/comment", "{base}/plan/changes")
async def a_plan_that_is_commented(world: World) -> Page:
    page = await drafted(world)
    plan = page.locator("#plan")
    await plan.get_by_role("button", name="Comment on line 3").click()
    await page.get_by_label("Comment on line 3 of the plan").fill("Which words?")
    await plan.get_by_role("button", name="Add comment").click()
    await plan.locator(".comment").wait_for()
    await plan.get_by_role("button", name="Comment on line 1").click()
    await page.get_by_label("Comment on line 1 of the plan").wait_for()
    await plan.get_by_role("button", name="What changed").click()
    return await shown(page, plan.get_by_text("No earlier version of the plan is kept."))


@state("/servers/badge")
async def failed(world: World) -> Page:
    page = (await world.tab("failed")).page
    return await shown(page, page.locator(".notice.error"))


@state("/pickers/why")
async def permission(world: World) -> Page:
    page = (await world.tab("commanding")).page
    return await shown(page, page.locator(".permission").get_by_text("Asked because of"))


@state()
async def permission_to_reach_a_host(world: World) -> Page:
    page = (await world.tab("networking")).page
    return await shown(page, page.locator(".permission").get_by_text("packages.example", exact=True))


@state("/pickers/palette")
async def palette(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.keyboard.press("Control+k")
    return await shown(page, page.locator("#palette [role=option]"))


@state()
async def port_in_the_sandbox(world: World) -> Page:
    page = (await world.tab("serving")).page
    return await shown(page, page.locator("#sandbox-ports").get_by_role("button", name="Open it here"))


@state("/permissions/per_x/matches")
async def permission_with_a_rule(world: World) -> Page:
    page = (await world.tab("commanding")).page
    await page.get_by_role("button", name="Allow…").click()
    return await shown(page, page.locator(".permission .matches"))


@state()
async def permission_of_an_edit(world: World) -> Page:
    page = (await world.tab("editing")).page
    return await shown(page, page.locator(".permission .proposal"))


@state()
async def question(world: World) -> Page:
    page = (await world.tab("questioning")).page
    return await shown(page, page.locator("form.question"))


@state("/permissions/per_x/card")
async def inbox(world: World) -> Page:
    page = (await world.tab()).page
    await page.locator("#inbox-button").click()
    await page.locator(".inbox-group", has_text="commanding").locator(".inbox-head").click()
    return await shown(page, page.locator("#inbox .permission"))


@state("{base}/rename")
async def renaming(world: World) -> Page:
    page = (await world.tab("worked")).page
    item = page.locator(f"#{world.sessions['worked']}-item")
    await item.get_by_label("Actions for").click()
    await page.get_by_role("menuitem", name="Rename").click()
    return await shown(page, page.get_by_role("textbox", name="Title"))


@state("/p/{project}/sessions", "{base}/menu")
async def session_menu(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.get_by_label("Filter sessions").fill("failed")
    await expect(page.locator(".session-item")).to_have_count(1)
    await page.locator(".session-item").get_by_label("Actions for").click()
    return await shown(page, page.get_by_role("menu", name="What to do with the session"))


async def with_a_chosen_session(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.locator(".session-item > a[id]").nth(1).click(modifiers=["ControlOrMeta"])
    return await shown(page, page.get_by_role("form", name="Chosen sessions"))


@state("/p/{project}/sessions/folder", "/p/{project}/sessions/folders/{folder}")
async def folders_of_sessions(world: World) -> Page:
    page = await with_a_chosen_session(world)
    dialog = page.get_by_role("dialog", name="Folder")
    for name in ("Work", "Play"):
        await page.get_by_role("form", name="Chosen sessions").get_by_role("button", name="Folder…").click()
        await dialog.get_by_label("A new one").check()
        await dialog.get_by_label("Name").fill(name)
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)
    await page.get_by_role("button", name="Change the folder Play").click()
    await expect(page.get_by_role("dialog", name="The folder “Play”")).to_be_visible()
    await page.keyboard.press("Escape")
    await page.get_by_role("form", name="Chosen sessions").get_by_role("button", name="Folder…").click()
    return await shown(page, dialog)


@state()
async def chosen_sessions(world: World) -> Page:
    return await with_a_chosen_session(world)


@state("/p/{project}/sessions/export")
async def export_of_several(world: World) -> Page:
    page = await with_a_chosen_session(world)
    await page.get_by_role("button", name="Export…").click()
    return await shown(page, page.get_by_role("dialog", name="Export 1 session"))


@state("/p/{project}/sessions/labels")
async def the_labels_of_a_session(world: World) -> Page:
    page = await with_a_chosen_session(world)
    dialog = page.get_by_role("dialog", name="Labels")
    for name, colour in (("urgent", "Red"), ("later", "Grey")):
        await page.get_by_role("form", name="Chosen sessions").get_by_role("button", name="Labels…").click()
        await dialog.get_by_label("A new one").fill(name)
        await dialog.get_by_label(colour).check()
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog).to_have_count(0)
    await expect(page.locator(".session-item .session-label")).to_have_text(["later", "urgent"])
    await page.get_by_role("form", name="Chosen sessions").get_by_role("button", name="Labels…").click()
    return await shown(page, dialog)


@state("/p/{project}/goal")
async def setting_a_goal(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.prompt.fill("/goal Reach it")
    await tab.prompt.press("Enter")
    return await shown(tab.page, tab.page.get_by_role("dialog", name="Work until it is done"))


@state("{base}/goal/log")
async def the_log_of_a_goal(world: World) -> Page:
    world.stage.plays(Turn(text="I tried."))
    session = await world.stage.session("pursued")
    given = {"checks": ["true", "ls none.txt"], "judge": "none", "budget": {"turns": 1}}
    await world.stage.client.post(f"/session/{session}/goal", {"objective": "Reach it.", **given})
    page = (await world.stage.tab(world.context, session)).page
    bar = page.get_by_role("region", name="Goal")
    await expect(bar).to_contain_text("Budget spent")
    await bar.get_by_role("button", name="Log").click()
    return await shown(page, page.get_by_role("dialog", name="What was found after each turn"))


@state("/p/{project}/knowledge")
async def notes_and_actions(world: World) -> Page:
    tab = await world.tab("worked")
    (world.stage.project / "Makefile").write_text("test:\n\ttrue\n")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("notes, todos")
    await tab.page.get_by_role("option", name="Notes, todos and actions").click()
    panel = tab.page.get_by_role("dialog", name="Notes and actions")
    await panel.get_by_label("A new todo").fill("Look at it")
    await panel.get_by_label("A new todo").press("Enter")
    await shown(tab.page, panel.get_by_role("checkbox", name="Look at it"))
    await panel.get_by_text("New note").click()
    title = panel.get_by_role("textbox", name="Title")
    await title.fill("What is so")
    await panel.get_by_label("Text, in Markdown").fill("It **is** so.")
    form = panel.locator("form").filter(has=panel.page.get_by_label("Text, in Markdown"))
    await form.get_by_role("button", name="Save").click()
    await panel.get_by_text("What is so").first.click()
    await panel.get_by_text("New action").click()
    return await shown(tab.page, panel.get_by_role("textbox", name="Command", exact=True))


@state()
async def a_folded_strip(world: World) -> Page:
    page = (await world.tab("staged")).page
    await page.locator("#strip-toggle").click()
    await expect(page.locator("#staged-bar")).to_be_hidden()
    return await shown(page, page.locator("#strip-toggle"))


@state(sizes=(NARROW,))
async def sidebar_as_a_drawer(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.set_viewport_size(NARROW)
    await page.get_by_role("button", name="Sessions").click()
    return await shown(page, page.locator("#sidebar"))


@state("{base}/find")
async def the_find_of_a_conversation(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.page.keyboard.press("Control+f")
    await tab.page.get_by_role("searchbox", name="Find in the conversation").fill("e")
    await expect(tab.page.locator("#find-count")).to_contain_text(" of ")
    return tab.page


# Files


async def in_files(world: World) -> Tab:
    """The tree, with a folder open."""
    tab = await world.tab("worked")
    await tab.page.keyboard.press("Control+Shift+E")
    await expect(tab.page.locator("#files-tree .files-row").first).to_be_visible()
    return tab


@state("/p/{project}/files/tree", "/p/{project}/files/marks")
async def files(world: World) -> Page:
    return (await in_files(world)).page


@state()
async def menu_of_a_file(world: World) -> Page:
    page = (await in_files(world)).page
    await page.locator("#files-tree .files-row", has_text="hello.py").click(button="right")
    return await shown(page, page.get_by_role("menu", name="What to do with it"))


@state("/p/{project}/files/view")
async def an_opened_file(world: World) -> Page:
    page = (await in_files(world)).page
    await page.locator("#files-tree .files-row", has_text="hello.py").click()
    await page.get_by_role("textbox", name="Text of hello.py").press("Control+f")
    return await shown(page, page.get_by_role("textbox", name="Find", exact=True))


@state("{base}/files/comments")
async def a_comment_in_a_file(world: World) -> Page:
    page = (await in_files(world)).page
    await page.locator("#files-tree .files-row", has_text="hello.py").click()
    await page.get_by_role("textbox", name="Text of hello.py").press("Shift+F2")
    await page.get_by_role("textbox", name="Comment on line 1").fill("Say why.")
    await page.keyboard.press("Control+Enter")
    await expect(page.locator(".cm-comment-text")).to_have_text("Say why.")
    await page.get_by_role("textbox", name="Text of hello.py").press("Shift+F2")
    return await shown(page, page.get_by_role("textbox", name="Comment on line 1"))


@state("/p/{project}/files/preview")
async def a_preview(world: World) -> Page:
    page = (await in_files(world)).page
    await page.locator("#files-tree .files-row[data-path=docs]").click()
    await page.locator("#files-tree .files-row[data-path='docs/guide.md']").click()
    await page.get_by_role("button", name="Preview").click()
    return await shown(page, page.locator(".opened-shown"))


@state("/p/{project}/files/find")
async def search_in_files(world: World) -> Page:
    page = (await world.tab("worked")).page
    await page.keyboard.press("Control+Shift+F")
    await page.get_by_role("searchbox", name="Search in the files").fill("hello")
    await page.get_by_label("Replace it").check()
    await page.get_by_role("textbox", name="What is to be in its place").fill("welcome")
    return await shown(page, page.locator(".find-line ins", has_text="welcome"))


@state()
async def a_file_that_is_gone(world: World) -> Page:
    page = (await world.tab("worked")).page
    project = await page.evaluate("document.body.dataset.project")
    kept = '{"paths": ["gone.txt"], "shown": "gone.txt"}'
    await page.evaluate("([key, value]) => localStorage.setItem(key, value)", [f"opened:{project}", kept])
    await page.reload()
    return await shown(page, page.get_by_text("It cannot be shown"))


# The field


@state("{base}/complete/commands")
async def commands(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.prompt.fill("")
    await tab.prompt.press_sequentially("/re")
    return await shown(tab.page, tab.page.locator("#completions [role=option]"))


@state("{base}/complete/files")
async def mentions(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.prompt.fill("")
    await tab.prompt.press_sequentially("@hello")
    return await shown(tab.page, tab.page.locator("#completions [role=option]"))


@state("/pickers/options")
async def models(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/models")
    return await shown(
        tab.page, tab.page.get_by_role("dialog", name="Model, variant, agent and how much is asked")
    )


@state()
async def modes(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/mode")
    return await shown(tab.page, tab.page.get_by_role("option", name="Edits go"))


@state("/help")
async def keys_and_commands(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/help")
    return await shown(tab.page, tab.page.get_by_role("dialog", name="Keys and commands"))


@state("/snippets/dialog")
async def a_snippet_of_the_prompt(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.prompt.fill("Say it in ${1:language}.")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("save the text")
    await tab.page.get_by_role("option", name="Save the text as a snippet").click()
    return await shown(tab.page, tab.dialog)


@state("{base}/pins/note")
async def a_note_to_be_pinned(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("pin a note")
    await tab.page.get_by_role("option", name="Pin a note").first.click()
    return await shown(tab.page, tab.dialog)


@state("/pickers/folders")
async def folders_beside_the_project(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/add-dir")
    return await shown(tab.page, tab.dialog)


async def attached(world: World) -> Page:
    """A session of its own with a picture and a text beside its prompt."""
    world.sessions["attached"] = await world.stage.session("attached")
    tab = await world.tab("attached")
    picture: FilePayload = {"name": "dot.png", "mimeType": "image/png", "buffer": b64decode(PNG)}
    note: FilePayload = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"one\ntwo\n"}
    await tab.page.locator("#attach").set_input_files([picture, note])
    return await shown(tab.page, tab.page.get_by_role("button", name="Put it into the text: note.txt"))


@state("/pickers/estimate")
async def what_is_attached(world: World) -> Page:
    page = await attached(world)
    return await shown(page, page.locator("#estimate", has_text="of the window"))


@state()
async def an_attached_picture(world: World) -> Page:
    page = await attached(world)
    return await dialog(page, page.get_by_role("button", name="Enlarge and edit dot.png"))


# Changes


@state("{base}/comments/form")
async def full_review(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.review.get_by_role("button", name="Full review").click()
    await tab.review.locator("[data-hunk]").get_by_role("button", name="Comment").first.click()
    return await shown(tab.page, tab.review.get_by_label("Comment on line"))


@state("{base}/review/tour")
async def having_a_tour_made(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.review.get_by_role("button", name="Tour", exact=True).click()
    return await shown(tab.page, tab.page.get_by_role("dialog", name="A tour of this change"))


@state()
async def a_stop_of_a_tour(world: World) -> Page:
    session = await world.stage.session("toured")
    tour = {"stops": [{"title": "What it is for", "text": "It is so. It had to be.", "hunks": [1]}]}
    writes = [ToolUse("write", {"filePath": f"{name}.txt", "content": session}) for name in ("one", "two")]
    world.stage.plays(Turn(tools=writes), Turn(text="Done."), Turn(text=json.dumps(tour)))
    await world.stage.client.prompt(session, "Go on.")
    tab = await world.stage.tab(world.context, session)
    await tab.review.get_by_role("button", name="Tour", exact=True).click()
    await tab.page.get_by_role("button", name="Make it").click()
    await shown(tab.page, tab.review.get_by_role("heading", name="What it is for"))
    await tab.review.get_by_text("All stops").click()
    return await shown(tab.page, tab.review.get_by_role("button", name="Make it anew"))


@state()
async def a_folder_beside_the_project(world: World) -> Page:
    tab = await world.tab("beside")
    await tab.page.keyboard.press("Control+Shift+E")
    await tab.page.locator("#files-tree [data-root]").click()
    await shown(tab.page, tab.page.locator("#files-tree [data-root] [data-path]").first)
    return await shown(tab.page, tab.review.get_by_role("heading", name="library"))


@state()
async def found_beside_the_project(world: World) -> Page:
    page = (await world.tab("beside")).page
    await page.keyboard.press("Control+Shift+F")
    await page.get_by_role("searchbox", name="Search in the files").fill("line three")
    return await shown(page, page.locator(".find-root"))


@state(sizes=(NARROW,))
async def review_as_a_drawer(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.page.set_viewport_size(NARROW)
    await tab.page.get_by_role("button", name="Changed files", exact=True).click()
    return await shown(tab.page, tab.review.locator("table.diff"))


@state("{base}/undo/{message}")
async def undo(world: World) -> Page:
    page = (await world.tab("worked")).page
    return await dialog(page, page.get_by_role("button", name="Undo from here").first)


@state()
async def undone(world: World) -> Page:
    page = (await world.tab("undone")).page
    return await shown(page, page.locator(".reverted-notice"))


@state("{waits}", "{waits}/review")
async def review_mode(world: World) -> Page:
    tab = await world.tab("staged")
    bar = tab.page.locator("#staged-bar")
    await bar.locator("summary").click()
    await expect(bar.get_by_role("button", name="Keep library/src/staged.txt")).to_be_visible()
    await bar.get_by_role("button", name="Review", exact=True).click()
    return await shown(tab.page, tab.review.locator("table.diff").last)


@state("{base}/timeline", "{base}/timeline/at", "{base}/timeline/point")
async def timeline(world: World) -> Page:
    page = await world.page(f"{world.project}s/{world.sessions['worked']}/timeline")
    await page.get_by_role("button", name="Open this point").click()
    return await shown(page, page.locator("#point .point-file tr.add"))


@state("/p/{project}/log")
async def log(world: World) -> Page:
    page = await world.page(f"{world.project}log")
    return await shown(page, page.locator(".log-entry"))


@state("/p/{project}/log/calls/{session}/{call}/invert")
async def log_of_a_call(world: World) -> Page:
    page = await world.page(f"{world.project}log?session={world.sessions['worked']}")
    return await dialog(page, page.locator(".log-entry").get_by_role("button", name="Undo").first)


@state("/p/{project}/log/operations/{operation}/invert")
async def log_of_an_undo(world: World) -> Page:
    page = await world.page(f"{world.project}log?session={world.sessions['undone']}")
    return await dialog(page, page.locator(".log-entry").get_by_role("button", name="Redo").first)


# Copies


@state("{base}/export")
async def export(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/export")
    return await shown(tab.page, tab.dialog)


@state("{base}/share")
async def share(world: World) -> Page:
    tab = await world.tab("worked")
    await dialog(tab.page, tab.page.locator("#share-button button"))
    await tab.dialog.get_by_role("button", name="Share").or_(tab.dialog.get_by_label("Address")).first.focus()
    return tab.page


@state("/s/que_x")
async def shared(world: World) -> Page:
    """Its policy lets no script run, so what came is looked at on a page without one."""
    page = await world.page(await (await share_of(world)).input_value())
    blank = await world.context.new_page()
    await blank.set_content(await page.content())
    return blank


async def share_of(world: World) -> Locator:
    tab = await world.tab("failed")
    await dialog(tab.page, tab.page.locator("#share-button button"))
    field = tab.dialog.get_by_label("Address of the shared page")
    if not await field.count():
        await tab.dialog.get_by_role("button", name="Share").click()
    await expect(field).to_be_visible()
    return field


@state("{base}/fork", "{base}/fork/files")
async def fork(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/fork")
    return await shown(tab.page, tab.dialog.get_by_label("With the files as they are now"))


@state("{base}/move")
async def moving(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/move")
    return await shown(tab.page, tab.dialog.get_by_label("Leave the changes in this folder as well"))


@state("/p/{worktree}/s/{fork}", "/worktrees/{worktree}/remove")
async def removing_a_fork(world: World) -> Page:
    page = await fork_of(world)
    await page.goto(f"{world.url}/?choose")
    await settled(page)
    return await dialog(page, page.locator("[hx-get^='/worktrees/']").first)


async def fork_of(world: World) -> Page:
    tab = await world.tab("worked")
    await tab.send("/fork")
    await tab.dialog.get_by_label("With the files as they are now").check()
    await tab.dialog.get_by_role("button", name="Fork", exact=True).click()
    return await shown(tab.page, tab.page.locator("#fork-links"))
