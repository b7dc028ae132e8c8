"""`/api/session`: pages of sessions and messages, own ids, and what is refused."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import Turn
from tests.protocol.conftest import repository
from tests.protocol.served import Json, Served
from tests.protocol.v2 import Talk

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def _pages(served: Served, path: str, **query: Any) -> AsyncIterator[Json]:
    """Pages up to the first empty one."""
    page = await served.get(path, **query)
    while page["data"]:
        yield page
        page = await served.get(path, limit=query["limit"], cursor=page["cursor"]["next"])
    assert page["cursor"] == {}


async def test_pages_stay_right_while_sessions_are_added(served: Served, tmp_path: Path) -> None:
    directory = str(repository(tmp_path))
    location = {"location": {"directory": directory}}
    made = [(await Talk.begin(served, **location)).id for _ in range(30)]
    for order, expected in (("asc", made), ("desc", made[::-1])):
        found = [
            [session["id"] for session in page["data"]]
            async for page in _pages(served, "/api/session", directory=directory, order=order, limit=7)
        ]
        assert [id for page in found for id in page] == expected
        assert [len(page) for page in found] == [7, 7, 7, 7, 2]
    first = await served.get("/api/session", directory=directory, limit=7)
    added = (await Talk.begin(served, **location)).id
    second = await served.get("/api/session", limit=7, cursor=first["cursor"]["next"])
    assert [session["id"] for session in second["data"]] == made[::-1][7:14]
    back = await served.get("/api/session", limit=7, cursor=second["cursor"]["previous"])
    assert back["data"] == first["data"]
    newer = await served.get("/api/session", cursor=first["cursor"]["previous"])
    assert [session["id"] for session in newer["data"]] == [added]


async def test_which_sessions(served: Served, tmp_path: Path) -> None:
    project = repository(tmp_path)
    root = await Talk.begin(served, location={"directory": str(project)})
    below = await Talk.begin(served, location={"directory": str(project / "src")})
    await served.ask("PATCH", f"/session/{root.id}", {"title": "Of the v2 roof"})
    found = (await below.get())["subpath"]
    assert found == "src"
    project_id = (await root.get())["projectID"]

    async def ids(**query: Any) -> list[str]:
        return [session["id"] for session in (await served.get("/api/session", **query))["data"]]

    assert await ids(project=project_id) == [below.id, root.id]
    assert await ids(project=project_id, subpath="src") == [below.id]
    assert await ids(project=project_id, subpath="sr") == []
    assert await ids(directory=str(project)) == [root.id]
    assert await ids(search="v2 roof") == [root.id]
    assert await ids(project="none") == []


async def test_a_session_with_an_id_of_its_own(served: Served) -> None:
    id = "ses_v2own"
    made = await served.post("/api/session", {"id": id, "agent": "build"})
    assert (made["data"]["id"], made["data"]["agent"]) == (id, "build")
    assert made["data"]["location"]["directory"] == str(served.server.project)
    assert await served.post("/api/session", {"id": id, "agent": "plan"}) == made
    await served.ask("DELETE", f"/session/{id}")
    await served.get(f"/api/session/{id}", status=404)
    assert (await served.post("/api/session", {"id": id}, status=400))["field"] == "id"


async def test_two_at_once_make_one_session(served: Served) -> None:
    """A client may send again what it is not sure of."""
    made = await asyncio.gather(*(served.post("/api/session", {"id": "ses_v2twice"}) for _ in range(5)))
    assert all(answer == made[0] for answer in made)


async def test_pages_of_messages(served: Served) -> None:
    talk = await Talk.begin(served)
    for number in range(3):
        served.plays(Turn(text=f"Answer {number}."))
        await talk.says(f"Question {number}.")
    whole = await talk.messages()
    path = f"/api/session/{talk.id}/message"
    for order, expected in (("asc", whole), ("desc", whole[::-1])):
        found = [page["data"] async for page in _pages(served, path, order=order, limit=4)]
        assert [message for page in found for message in page] == expected
        assert [len(page) for page in found] == [4, 2]
    newest = await served.get(path, limit=2)
    before = await served.get(path, limit=2, cursor=newest["cursor"]["next"])
    assert (await served.get(path, limit=2, cursor=before["cursor"]["previous"]))["data"] == newest["data"]
    both = await served.get(path, order="asc", cursor=newest["cursor"]["next"], status=400)
    assert both["_tag"] == "InvalidCursorError"


async def test_what_is_no_cursor(served: Served) -> None:
    talk = await Talk.begin(served)
    forged = base64.urlsafe_b64encode(b'{"id":1,"order":"up"}').decode()
    for cursor in ("nonsense", "%%%", forged, "A" * 10_000, "\u00e9"):
        for path in ("/api/session", f"/api/session/{talk.id}/message"):
            assert (await served.get(path, cursor=cursor, status=400))["_tag"] == "InvalidCursorError"
    for after in ("nonsense", "-1", "999999999999999", "9" * 40):
        for path in ("history", "event"):
            refused = await served.get(f"/api/session/{talk.id}/{path}", after=after, status=400)
            assert (refused["_tag"], refused["field"]) == ("InvalidRequestError", "after")


async def test_what_is_refused(served: Served) -> None:
    talk = await Talk.begin(served)
    for query in ({"limit": "-1"}, {"limit": "0"}, {"limit": "many"}, {"order": "up"}):
        for path in ("/api/session", f"/api/session/{talk.id}/message"):
            refused = await served.ask("GET", path, status=400, **query)
            assert refused["field"] in query
    for field, body in (
        ("id", {"id": "nope"}),
        ("id", {"id": "ses_" + "x" * 100}),
        ("location.directory", {"location": {"directory": "/there/is/none"}}),
        ("location.directory", {"location": {"directory": "with\0null"}}),
        ("agent", {"agent": ""}),
        ("model.id", {"model": {"providerID": "fake"}}),
    ):
        assert (await served.post("/api/session", body, status=400))["field"] == field
    prompts: tuple[tuple[str, Json], ...] = (
        ("delivery", {"prompt": {"text": "x"}, "delivery": "never"}),
        ("id", {"prompt": {"text": "x"}, "id": "nope"}),
        ("prompt.text", {"prompt": {}}),
        ("prompt", {}),
    )
    for field, body in prompts:
        assert (await talk.post("/prompt", body, status=400))["field"] == field
    half = b'"\\ud800"'
    for path, content in (
        ("prompt", b"{no"),
        ("prompt", b'{"prompt": {"text": "\xff"}}'),
        ("prompt", b'{"prompt": {"text": ' + half + b"}}"),
        ("agent", b'{"agent": ' + half + b"}"),
        ("model", b'{"model": {"providerID": ' + half + b', "id": "x"}}'),
        ("permission", b'{"resources": [], "action": ' + half + b"}"),
    ):
        answer = await served.http.post(
            f"/api/session/{talk.id}/{path}", content=content, headers={"content-type": "application/json"}
        )
        assert answer.json().get("_tag") == "InvalidRequestError", (content, answer.text)
        assert answer.status_code == 400


GETS = ("", "/message", "/message/msg_1", "/context", "/history", "/event", "/permission", "/question")
POSTS = ("/wait", "/interrupt", "/compact", "/revert/clear", "/revert/commit")


@pytest.mark.parametrize("id", ["ses_none", "nonsense", "ses_%00", "ses_%0A", "ses_%F0%9F%98%80", "x" * 3000])
async def test_no_such_session(served: Served, id: str) -> None:
    """404 for what could be one, 400 for what cannot; never 500."""
    for path in GETS:
        answer = await served.http.get(f"/api/session/{id}{path}")
        assert answer.json()["_tag"] in ("SessionNotFoundError", "InvalidRequestError"), path
        assert answer.status_code in (400, 404)
    for path in POSTS:
        answer = await served.http.post(f"/api/session/{id}{path}", json={})
        assert answer.json()["_tag"] in ("SessionNotFoundError", "InvalidRequestError"), path


async def test_a_message_that_there_is_not(served: Served) -> None:
    talk, other = await Talk.begin(served), await Talk.begin(served)
    served.plays(Turn(text="Hello."))
    said = await talk.says("Hello.")
    missing = await served.get(f"/api/session/{other.id}/message/{said['id']}", status=404)
    assert missing["_tag"] == "MessageNotFoundError"
    assert (await served.get(f"/api/session/{talk.id}/message/zz", status=400))["field"] == "messageID"
