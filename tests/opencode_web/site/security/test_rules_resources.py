"""The rules of docs/security.md about what a login may reach (9, 11 and 12), on the real server."""

from __future__ import annotations

import ast
import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.browser import browsing, closed
from tests.opencode_web.site.security.rooms import set_trap
from tests.server import Server, running, serving, until

ROOT = Path(__file__).parents[4]
ASK = {"*": "allow", "external_directory": "ask", "edit": {"*": "allow", "asked.txt": "ask"}}


async def status(client: httpx.AsyncClient, path: str, method: str = "GET", **more: Any) -> int:
    """Also of the client that raises for errors."""
    try:
        return (await client.request(method, path, **more)).status_code
    except httpx.HTTPStatusError as error:
        return error.response.status_code


# Rule 9


async def test_rule_9_no_file_of_the_project_is_served_as_a_document(home: Path, project: Path) -> None:
    (project / "page.html").write_text("<script>alert(1)</script>")
    (project / "picture.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    (project / "raw.bin").write_bytes(b"\0<script>alert(1)</script>")
    server = Server(home, project)
    async with running(server) as client, browsing(server) as browser:
        session = await client.create_session()
        for name in ("page.html", "picture.svg", "raw.bin"):
            answer = await browser.get("/file/content", params={"path": name})
            assert answer.headers["content-type"].startswith("application/json")
            assert answer.headers["x-content-type-options"] == "nosniff"
            base = f"p/{session['projectID']}/"
            for path in ("", "static/", base, f"{base}s/{session['id']}/", "static/../", "static/%2e%2e/",
                         f"static/{project}/"):  # fmt: skip
                assert await status(browser, f"/{path}{name}") in (400, 404), path


# Rule 11


def calls() -> Iterator[tuple[Path, ast.Call]]:
    for room in ("opencode_web", "agents", "sessions"):
        for file in (ROOT / room).rglob("*.py"):
            yield from (
                (file, node) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
            )


def test_rule_11_no_program_is_started_by_a_shell_string() -> None:
    started = 0
    for file, call in calls():
        name = ast.unparse(call.func)
        assert name not in ("os.system", "os.popen", "eval", "exec", "pickle.loads", "yaml.load"), file
        assert not name.endswith(("create_subprocess_shell", "getoutput", "getstatusoutput")), file
        for keyword in call.keywords:
            assert keyword.arg != "shell" or ast.unparse(keyword.value) == "False", file
        if name in ("subprocess.run", "subprocess.Popen", "asyncio.create_subprocess_exec"):
            started += 1
            first = call.args[0]
            assert not isinstance(first, ast.JoinedStr | ast.BinOp | ast.Constant)
    assert started >= 5


async def test_rule_11_the_api_stays_inside_of_the_project(home: Path, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("needle outside")
    (project / "link").symlink_to(outside)
    (project / "file-link").symlink_to(outside / "secret.txt")
    os.mkfifo(project / "pipe")
    async with running(Server(home, project)) as client:
        away = str(outside / "secret.txt")
        for path in ("link/secret.txt", "file-link", "../outside/secret.txt", away, "/etc/passwd",
                     "link/../../outside/secret.txt", "~/x", "a\0b", "pipe", "x" * 5000):  # fmt: skip
            for route in ("/file/content", "/file"):
                assert await status(client.http, route, params={"path": path}) in (400, 403, 404), path
        assert await client.find("needle") == []
        assert not [path for path in await client.find_files("secret") if "secret" in path]
        for folder in ("/", "//", "/..", "relative", "/nowhere", "/etc/passwd", "a\0b"):
            given = {"path": "etc/passwd", "directory": folder, "query": "passwd", "pattern": "root"}
            for route in ("/file/content", "/find/file", "/find", "/vcs/status"):
                assert await status(client.http, route, params=given) == 404, (route, folder)


async def test_rule_11_a_hostile_repository_runs_nothing(home: Path, project: Path) -> None:
    """What git starts by the repository's own configuration is not started by looking at it."""
    await asyncio.to_thread(set_trap, project)
    edit = {"filePath": "hello.py", "oldString": "hello", "newString": "bye", "replaceAll": True}
    script = [
        Turn(tools=[ToolUse("edit", edit), ToolUse("bash", {"command": "echo x > y"})]),
        Turn(text="Done."),
    ]
    async with serving(home, project, script) as (client, _):
        await client.http.get("/file", params={"path": "."})
        await client.find("hello")
        await client.find_files("hello")
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Edit.")
        history = await client.messages(session["id"])
        await client.diff(session["id"], history[0]["info"]["id"])
        await client.revert(session["id"], history[0]["info"]["id"])
        os.utime(project / "hello.py")  # the same content: git has to look inside, through its filter
        panel = f"/p/{session['projectID']}/s/{session['id']}/review/files"
        assert (await client.http.get(panel, params={"scope": "git"})).status_code == 200
    assert not (project / "SPRUNG").exists()


async def test_rule_11_tools_ask_before_they_follow_a_link_out(
    home: Path, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("theirs\n")
    (project / "link").symlink_to(outside)
    target = {"filePath": "link/file.txt"}
    uses = [
        ToolUse("read", target),
        ToolUse("write", {**target, "content": "ours\n"}),
        ToolUse("edit", {**target, "oldString": "theirs", "newString": "ours"}),
        ToolUse("read", {"filePath": str(outside / "file.txt")}),
        ToolUse("write", {"filePath": "../outside/file.txt", "content": "ours\n"}),
        ToolUse("bash", {"command": "echo ours > link/file.txt"}),
    ]
    script = [Turn(tools=[use]) for use in uses]
    async with serving(home, project, script, permission=ASK) as (client, _), client.events() as events:
        session = await client.create_session(title="named")
        for _use in uses:
            await client.prompt_async(session["id"], "Go.")
            asked = await until(events, "permission.asked")
            assert asked.properties["permission"] == "external_directory"
            await client.reply(asked.properties["id"], "reject")
            await until(events, "session.idle")
    assert (outside / "file.txt").read_text() == "theirs\n"


async def test_rule_11_undo_does_not_write_through_a_link(home: Path, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file.txt").write_text("theirs\n")
    use = ToolUse("write", {"filePath": "folder/file.txt", "content": "theirs\n"})
    async with serving(home, project, [Turn(tools=[use]), Turn(text="Done.")]) as (client, _):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Write.")
        history = await client.messages(session["id"])
        (project / "folder" / "file.txt").unlink()
        (project / "folder").rmdir()
        (project / "folder").symlink_to(outside)
        await client.revert(session["id"], history[0]["info"]["id"])
    assert (outside / "file.txt").read_text() == "theirs\n"


# Rule 12


async def test_rule_12_pages_and_sockets_join_only_what_belongs_together(
    home: Path, project: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    server = Server(home, project, environ={"OPENCODE_WEB_DEMO": "1"})
    async with running(server) as client, browsing(server) as browser:
        mine = await client.create_session()
        theirs = await client.post(f"/session?directory={other}")
        assert mine["projectID"] != theirs["projectID"]
        for project_id, session_id in (
            (mine["projectID"], theirs["id"]),
            ("unknown", mine["id"]),
            (mine["projectID"], "ses_x"),
        ):
            base = f"/p/{project_id}/s/{session_id}"
            for path in ("", "/messages", "/review", "/review/file", "/undo/msg_x", "/rename",
                         "/complete/files", "/parts/prt_x/output"):  # fmt: skip
                assert await status(browser, base + path) == 404, path
            for path in ("prompt", "abort", "rename", "archive", "delete", "restore", "redo", "undo/msg_x"):
                assert (await browser.change(f"{base}/{path}", text="x", title="x")).status_code == 404, path
            async with browser.socket(f"/ws/p/{project_id}/?session={session_id}") as socket:
                assert await closed(socket) == 4404
        assert (await client.session(theirs["id"]))["title"] == theirs["title"]
        refused = {"parentID": theirs["id"]}
        assert await status(client.http, "/session", "POST", json=refused) == 404


async def test_rule_12_a_message_id_opens_only_its_own_session(home: Path, project: Path) -> None:
    edit = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'bye'"}
    script = [Turn(tools=[ToolUse("edit", edit)]), Turn(text="Done."), Turn(text="Other.")]
    async with serving(home, project, script) as (client, _):
        first, second = await client.create_session("a"), await client.create_session("b")
        await client.prompt(first["id"], "Edit.")
        await client.prompt(second["id"], "Hello.")
        history = await client.messages(first["id"])
        message = history[0]["info"]["id"]
        base = f"/session/{second['id']}"
        assert await status(client.http, f"{base}/message/{message}") == 404
        assert await status(client.http, f"{base}/revert", "POST", json={"messageID": message}) == 404
        assert await client.get(f"{base}/diff", messageID=message) == []
        page = f"/p/{second['projectID']}/s/{second['id']}"
        part = history[0]["parts"][0]["id"]
        for path in (f"undo/{message}", f"parts/{part}/output"):
            assert await status(client.http, f"{page}/{path}") == 404
        body = {"messageID": message, "parts": [{"type": "text", "text": "stolen"}]}
        assert await status(client.http, f"{base}/prompt_async", "POST", json=body) == 400
        assert await client.messages(first["id"]) == history
        assert "'bye'" in (project / "hello.py").read_text()


async def test_rule_12_an_answer_counts_once_and_only_while_it_is_waited_for(
    home: Path, project: Path
) -> None:
    asking = ToolUse("write", {"filePath": "asked.txt", "content": "x"})
    script = [Turn(tools=[asking])] * 3
    async with serving(home, project, script, permission=ASK) as (client, _), client.events() as events:
        session = await client.create_session(title="named")

        async def ask() -> str:
            await client.prompt_async(session["id"], "Write.")
            return str((await until(events, "permission.asked")).properties["id"])

        async def answer(request: str, reply: str = "always") -> int:
            return await status(client.http, f"/permission/{request}/reply", "POST", json={"reply": reply})

        once = await ask()
        answers = await asyncio.gather(*(answer(once, "reject") for _ in range(8)))
        assert sorted(answers) == [200] + [404] * 7
        await until(events, "session.idle")
        stopped = await ask()
        await client.abort(session["id"])
        await until(events, "session.idle")
        deleted = await ask()
        await client.delete_session(session["id"])
        for request in (once, stopped, deleted, "per_unknown"):
            assert await answer(request) == 404
        assert not (project / "asked.txt").exists()
