"""`/session`: create, list, change, delete; and the list of all projects."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"
UNDECLARED = "the document has no 404 here; an unknown id is one everywhere"
NOBODY = "ses_000000000000000000000000000000"


def titles(rows: list[dict[str, Any]]) -> list[str]:
    return [row["title"] for row in rows]


@pytest.fixture
def folder(served: Served, tmp_path: Path) -> Path:
    """A folder of its own, so that lists have nothing of other tests; with a folder in it."""
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return tmp_path


async def create(served: Served, directory: Path, **body: Any) -> dict[str, Any]:
    made: dict[str, Any] = await served.post("/session", body, directory=str(directory))
    return made


async def test_a_session_has_what_it_was_created_with(served: Served, folder: Path) -> None:
    rule = {"permission": "edit", "pattern": "*", "action": "ask"}
    body = {
        "title": "Named",
        "agent": "plan",
        "model": {"id": "fake", "providerID": "fake"},
        "metadata": {"mine": [1]},
        "permission": [rule],
        "workspaceID": "wrk_ignored",
    }
    made = await create(served, folder / "sub", **body)
    assert {key: made[key] for key in body if key != "workspaceID"} == {
        key: value for key, value in body.items() if key != "workspaceID"
    }
    assert (made["directory"], made["path"]) == (str(folder / "sub"), "sub")
    assert await served.get(f"/session/{made['id']}") == made
    child = await create(served, folder, parentID=made["id"])
    assert child["path"] == ""
    assert await served.get(f"/session/{made['id']}/children") == [child]


async def test_what_a_list_holds(served: Served, folder: Path) -> None:
    first = await create(served, folder, title="First")
    await create(served, folder / "sub", title="In sub")
    await create(served, folder / "sub" / "deep", title="Deep")
    await create(served, folder, title="Child 100%", parentID=first["id"])
    everything = ["Child 100%", "Deep", "In sub", "First"]

    async def listed(directory: Path = folder, **query: Any) -> list[str]:
        answer = await served.http.get("/session", params={"directory": str(directory), **query})
        assert not served.reference.problems("GET", "/session", answer.status_code, answer.json())
        return titles(answer.json())

    assert await listed() == ["Child 100%", "First"]
    assert await listed(scope="project") == everything
    assert await listed(folder / "sub", scope="project") == everything
    assert await listed(folder / "sub") == ["In sub"]
    assert await listed(path="sub") == ["Deep", "In sub"]
    assert await listed(path="su") == []
    assert await listed(roots="true") == ["First"]
    assert await listed(search="CHILD") == ["Child 100%"]
    assert await listed(search="%", scope="project") == ["Child 100%"]
    assert await listed(limit=1) == ["Child 100%"]
    assert await listed(limit=0) == []
    start = first["time"]["updated"] + 1
    assert "First" not in await listed(scope="project", start=start)
    header = {"x-opencode-directory": str(folder / "sub")}
    by_header = await served.http.get("/session", headers=header)
    assert titles(by_header.json()) == everything


async def test_one_folder_has_one_spelling(served: Served, folder: Path) -> None:
    first = await create(served, folder / "sub" / ".." / "sub", title="By dots")
    second = await create(served, Path(f"/{folder}/sub/"), title="By slashes")
    assert {first["directory"], second["directory"]} == {str(folder / "sub")}
    for spelling in (f"{folder}/sub", f"{folder}//sub/", f"{folder}/sub/deep/.."):
        for path in ("/session", "/experimental/session"):
            assert titles(await served.get(path, directory=spelling)) == ["By slashes", "By dots"]
        found = await served.get("/api/session", directory=spelling)
        assert titles(found["data"]) == ["By slashes", "By dots"]


async def test_a_query_that_is_wrong_is_named(served: Served) -> None:
    for name, value in (("limit", "-1"), ("limit", "many"), ("start", "x"), ("roots", "y"), ("scope", "z")):
        answer = await served.ask("GET", "/session", status=400, **{name: value})
        assert answer["name"] == "BadRequest"
        assert answer["data"]["message"].startswith(f"{name}:")
        assert answer["data"]["kind"] == "Query"


async def test_what_may_be_changed(served: Served) -> None:
    path = f"/session/{await served.session()}"
    first, second = ({"permission": name, "pattern": "*", "action": "ask"} for name in ("edit", "bash"))
    await served.ask("PATCH", path, {"metadata": {"a": 1}, "permission": [first]})
    changed = await served.ask("PATCH", path, {"title": "New", "metadata": {"b": 2}, "permission": [second]})
    assert (changed["title"], changed["metadata"]) == ("New", {"b": 2})
    assert changed["permission"] == [first, second]
    assert await served.ask("PATCH", path, {}) == changed
    archived = await served.ask("PATCH", path, {"time": {"archived": 1234}})
    assert archived["time"]["archived"] == 1234
    for back in (0, None):
        await served.ask("PATCH", path, {"time": {"archived": 1234}})
        row = await served.ask("PATCH", path, {"time": {"archived": back}})
        assert "archived" not in row["time"]
    wrong = await served.ask("PATCH", path, {"title": 4}, status=400, departs=OWN_ERROR)
    assert wrong["data"]["message"].startswith("title:")


async def test_rules_that_come_at_once_are_all_there(served: Served) -> None:
    path = f"/session/{await served.session()}"
    rules = [{"permission": "bash", "pattern": f"{number} *", "action": "deny"} for number in range(12)]
    await asyncio.gather(*(served.ask("PATCH", path, {"permission": [rule]}) for rule in rules))
    permission = (await served.get(path))["permission"]
    assert sorted(permission, key=rules.index) == rules


async def test_a_deleted_session_is_gone(served: Served) -> None:
    session = await served.session()
    assert await served.ask("DELETE", f"/session/{session}") is True
    await served.ask("GET", f"/session/{session}", status=404)
    await served.ask("DELETE", f"/session/{session}", status=404)


async def test_an_unknown_or_malformed_session_is_never_an_error_of_ours(served: Served) -> None:
    message = {"parts": [{"type": "text", "text": "x"}]}
    for unknown in (NOBODY, "nope", "ses_%00", "ses_%F0%9F%92%A9"):
        for path in ("", "/children", "/todo", "/message"):
            await served.ask("GET", f"/session/{unknown}{path}", status=404)
        for path, body in (("/message", message), ("/prompt_async", message), ("/fork", {})):
            await served.ask("POST", f"/session/{unknown}{path}", body, status=404)
        for method, path in (("GET", "/diff"), ("POST", "/abort")):
            await served.ask(method, f"/session/{unknown}{path}", status=404, departs=UNDECLARED)


async def test_a_session_is_found_from_any_folder(served: Served, folder: Path) -> None:
    made = await create(served, folder, title="Elsewhere")
    assert await served.get(f"/session/{made['id']}") == made  # asked about the server's own folder
    assert await served.get(f"/session/{made['id']}", directory=str(folder / "sub")) == made
    other = await served.post(
        "/session", {"parentID": made["id"]}, status=404, departs="a parent of another project is unknown"
    )
    assert made["id"] in other["data"]["message"]


async def test_looking_at_a_folder_makes_no_project(served: Served, folder: Path) -> None:
    for path in ("/session", "/session/status", "/permission", "/question"):
        assert not await served.get(path, directory=str(folder))
    known = [project["worktree"] for project in await served.ask("GET", "/project", departs="another's")]
    assert str(folder) not in known
    missing = await served.ask(
        "GET", "/session", status=404, departs="OpenCode answers nothing", directory=str(folder / "none")
    )
    assert str(folder / "none") in missing["data"]["message"]


async def test_bodies_that_cannot_be_read(served: Served) -> None:
    json = {"content-type": "application/json"}
    for body in (b'{"title":"\xff"}', b"{bad", b"[]", b'{"title":5}', b'{"parentID":"nope"}'):
        answer = await served.http.post("/session", content=body, headers=json)
        assert answer.status_code == 400, body
        assert answer.json()["name"] == "BadRequest"
    large = await served.http.post("/session", content=b"a" * 100_000_000, headers=json)
    assert large.status_code == 413
    assert await served.get("/session", limit=1) is not None


async def test_abort_of_an_idle_session(served: Served) -> None:
    session = await served.session()
    assert await served.post(f"/session/{session}/abort") is True
    assert await served.get("/session/status") == {}


async def test_the_sessions_of_all_projects_page_by_page(served: Served, folder: Path) -> None:
    here = await served.get("/session", limit=1) or [await create(served, served.server.project)]
    await create(served, folder, title="One of all")
    await create(served, folder / "sub", title="Two of all")
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        answer = await served.http.get("/experimental/session", params={"limit": 2, **cursor})
        rows = answer.json()
        assert not served.reference.problems("GET", "/experimental/session", 200, rows)
        seen += [row["id"] for row in rows]
        if "x-next-cursor" not in answer.headers:
            break
        cursor = {"cursor": answer.headers["x-next-cursor"]}
    assert len(seen) == len(set(seen))
    assert here[0]["id"] in seen
    found = await served.get("/experimental/session", search="of all")
    assert titles(found) == ["Two of all", "One of all"]
    assert found[0]["project"]["worktree"] == str(folder)
    await served.ask("PATCH", f"/session/{found[0]['id']}", {"time": {"archived": 5}})
    assert titles(await served.get("/experimental/session", search="of all")) == ["One of all"]
    whole = await served.get("/experimental/session", search="of all", archived="true")
    assert titles(whole) == ["Two of all", "One of all"]
    await served.ask("GET", "/experimental/session", status=400, limit="-1")
    assert await served.post(f"/experimental/session/{seen[0]}/background") is False


async def test_titles_until_there_is_one(served: Served) -> None:
    """By their form clients know a session that has none yet."""
    made = await served.post("/session", {})
    child = await served.post("/session", {"parentID": made["id"]})
    when = datetime.fromtimestamp(made["time"]["created"] / 1000, UTC).isoformat(timespec="milliseconds")
    assert made["title"] == f"New session - {when.replace('+00:00', 'Z')}"
    assert re.fullmatch(r"Child session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", child["title"])
    assert made in await served.get("/session")
    page = (await served.http.get(f"/p/{made['projectID']}/s/{made['id']}")).text
    title = r'<h1 id="title"[^>]*><button[^>]*>(?:<key-hint[^>]*></key-hint>)?New session</button></h1>'
    assert re.search(title, page)
    await served.ask("PATCH", f"/session/{made['id']}", {"title": "Named"})
    first = await served.post(f"/session/{made['id']}/fork")
    second = await served.post(f"/session/{made['id']}/fork")
    third = await served.post(f"/session/{second['id']}/fork")
    titles = [fork["title"] for fork in (first, second, third)]
    assert titles == ["Named (fork #1)", "Named (fork #1)", "Named (fork #2)"]
