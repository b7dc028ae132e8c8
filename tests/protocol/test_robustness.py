"""Whatever is asked of an operation, the answer is JSON of its protocol and never a failure of the server."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
import pytest_asyncio

from tests.loopback.script import ToolUse, Turn, Wait
from tests.opencode_web.site.security.rooms import set_trap
from tests.protocol.attacks import Attack, Attacker
from tests.protocol.conftest import repository
from tests.protocol.served import Json, Served
from tests.runtime.trusting import write
from tests.server import PASSWORD, PATIENCE, ROOT, until

pytestmark = pytest.mark.asyncio(loop_scope="session")

AT_ONCE = 4
INSIDE = re.compile(r"Traceback|site-packages|\.py\b.*line \d+|" + re.escape(str(ROOT)))
HEADERS = {
    "Content-Type": "application/json",
    "Authorization": "Basic " + base64.b64encode(f"opencode:{PASSWORD}".encode()).decode(),
    "X-OpenCode-Ticket": "1",
}
PROMPT: Json = {"noReply": True, "parts": [{"type": "text", "text": "Nothing."}]}
WITHOUT_WORDS: tuple[Any, ...] = ({"_tag": "BadRequest"}, "ProviderAuthOauthMissing")
"""Errors that have no message in OpenCode's document either."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def attacker(served: Served, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Attacker]:
    """Things of the walk's own, in a folder of its own; what it left behind goes at the end."""
    place: Json = {"directory": str(repository(tmp_path_factory.mktemp("attacked")))}
    served.heard.attacked = place["directory"]
    session = (await served.ask("POST", "/session", {}, **place))["id"]
    message = await served.post(f"/session/{session}/message", PROMPT, departs="the user's message")
    real = {
        "sessionID": session,
        "messageID": message["info"]["id"],
        "partID": message["parts"][0]["id"],
        "ptyID": (await served.ask("POST", "/pty", {"command": "cat"}, **place))["id"],
        "projectID": (await served.get("/project/current", **place))["id"],
        "id": message["parts"][0]["id"],
        "providerID": "fake",
        "modelID": "fake",
        "agent": "build",
        "integrationID": "walk",
        "name": "walk",
    }
    own = served.server.home / ".config"
    files = {path: path.read_bytes() for path in own.rglob("*") if path.is_file()}
    yield Attacker(await served.get("/doc"), real, place["directory"])
    for terminal in await served.get("/pty", **place):
        await served.ask("DELETE", f"/pty/{terminal['id']}", **place)
    for path in [path for path in own.rglob("*") if path.is_file()]:
        path.write_bytes(files[path]) if path in files else path.unlink()
    await served.ask("DELETE", "/auth/fake")
    await served.post(f"/session/{session}/abort")


async def test_no_operation_answers_a_stranger(served: Served, attacker: Attacker) -> None:
    async with httpx.AsyncClient(base_url=served.server.url, timeout=30) as stranger:
        for method, path, details in attacker.operations():
            answer = await stranger.request(method, re.sub(r"[{}*]", "x", path))
            public = details["operationId"] == "global.health" and answer.status_code == 200
            assert public or answer.status_code == 401, (method, path, answer.status_code)


@pytest.mark.long
async def test_no_attack_on_an_operation_succeeds_in_breaking_it(served: Served, attacker: Attacker) -> None:
    await _attack(served, list(attacker.attacks()))


async def test_looking_at_a_repository_runs_nothing_of_it(
    served: Served, attacker: Attacker, tmp_path: Path
) -> None:
    """Every operation that reads, in a folder that nobody trusts and where everything is a trap."""
    folder = await asyncio.to_thread(_repository, tmp_path / "trapped")
    await asyncio.to_thread(_set_traps, folder)
    await _look(served, attacker, folder)
    for name in ("trap", "walk"):
        await served.http.post(f"/mcp/{name}/connect", params={"directory": str(folder)})
    assert not (folder / "SPRUNG").exists()


async def test_an_id_opens_nothing_of_another_session(served: Served, attacker: Attacker) -> None:
    """A message, a part and a request of one session by the id of another."""
    mine, other = await served.session("Mine"), await served.session("Another")
    said = await served.post(f"/session/{mine}/message", PROMPT, departs="the user's message")
    wanted = {"action": "bash", "resources": ["touch x"]}
    request = (await served.post(f"/api/session/{mine}/permission", wanted))["data"]["id"]
    message, part = said["info"]["id"], said["parts"][0]["id"]
    real = {"sessionID": other, "messageID": message, "partID": part, "requestID": request, "act": "pause"}
    others = replace(attacker, real=real | {"permissionID": request, "id": part})
    asked = 0
    for method, path, details in attacker.operations():
        if path.count("{") > 1 and "{sessionID}" in path:
            body = others.sound(details)
            answer = await served.http.request(method, others.named(path), content=body, headers=HEADERS)
            assert answer.status_code == 404 or "question" in path, (method, path, answer.text)
            asked += 1
    assert asked >= 10
    for path in (f"/session/{other}/revert", f"/api/session/{other}/revert/stage"):
        assert (await served.http.post(path, json={"messageID": message})).status_code == 404
    assert await served.get(f"/session/{mine}/message") == [said]
    (waiting,) = (await served.get(f"/api/session/{mine}/permission"))["data"]
    assert waiting["id"] == request
    await served.post(f"/permission/{request}/reply", {"reply": "reject"})


@pytest.mark.parametrize("path", ["/api/session", "/pty", "/vcs/apply"])
async def test_a_hundred_megabytes_are_refused(served: Served, path: str) -> None:
    answer = await served.http.post(path, content=b"a" * 100_000_000, headers=HEADERS)
    assert answer.status_code == 413


@pytest.mark.parametrize("asked", ["OPTIONS *", "GET session", "GET ?"])
async def test_a_target_that_is_no_path(served: Served, asked: str) -> None:
    address = urlsplit(served.server.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    head = f"Host: {address.netloc}\r\nAuthorization: {HEADERS['Authorization']}\r\nConnection: close"
    writer.write(f"{asked} HTTP/1.1\r\n{head}\r\n\r\n".encode())
    assert int((await reader.readline()).split()[1]) in (400, 404, 405)
    writer.close()


async def test_a_folder_that_nobody_may_read(served: Served, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    closed = tmp_path / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0)
    try:
        for folder in (closed, closed / "inner"):
            for path in ("/file?path=.", "/vcs", "/project/current", "/find?pattern=x"):
                asked = served.http.get(path, params={"directory": str(folder), **_query(path)})
                assert (await asked).status_code == 404, path
    finally:
        closed.chmod(0o700)


async def test_links_that_lead_to_themselves(served: Served, tmp_path: Path, attacker: Attacker) -> None:
    """As the folder itself, and within it."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    real = await asyncio.to_thread(_repository, tmp_path / "real")
    (real / "self").symlink_to(".")
    (real / "round").symlink_to("round")
    await served.ask("GET", "/path", status=404, departs="no folder", directory=str(tmp_path / "loop"))
    await _look(served, attacker, real)
    place: Json = {"directory": str(real)}
    assert await served.get("/find/file", query="app", type="file", **place) == ["src/app.py"]
    (found,) = await served.get("/find", pattern="print", **place)
    assert found["path"]["text"] == "src/app.py"
    await served.ask("GET", "/file/content", status=400, departs="no file", path="round", **place)


async def test_a_folder_that_goes_while_it_is_worked_on(
    served: Served, tmp_path: Path, attacker: Attacker
) -> None:
    """Its requests end without a failure, its turn ends, what was said stays."""
    folder = await asyncio.to_thread(_repository, tmp_path / "going")
    place: Json = {"directory": str(folder)}
    session = (await served.ask("POST", "/session", {"title": "Going"}, **place))["id"]
    served.plays(
        Turn(text=["Begun", Wait("going")], tools=[ToolUse("bash", {"command": "ls"})]), Turn(text="Done.")
    )
    async with served.server.client() as client:
        client.http.headers["x-opencode-directory"] = str(folder)
        async with client.events() as events:
            await client.prompt_async(session, "Go.")
            await until(events, "message.part.delta", sessionID=session)
            looking = asyncio.create_task(_look(served, attacker, folder))
            await asyncio.to_thread(shutil.rmtree, folder)
            await looking
            await served.opens("going")
            await until(events, "session.idle", sessionID=session)
    await served.ask("GET", "/vcs", status=404, departs="no folder", **place)
    assert "Begun" in str(await served.get(f"/session/{session}/message"))
    await served.ask("POST", f"/session/{session}/revert", {"messageID": "msg_none"}, status=404)


async def _look(served: Served, attacker: Attacker, folder: Path) -> None:
    """By every operation that only reads, all at once."""
    urls = list(replace(attacker, place=str(folder)).looks())
    answers = await asyncio.gather(*(served.http.get(url) for url in urls))
    failed = [str(answer.url) for answer in answers if answer.status_code >= 500]
    assert not failed, (await asyncio.to_thread(served.server.log))[-6000:]


def _query(path: str) -> dict[str, str]:
    return {"path": ".", "pattern": "x"} if "?" in path else {}


def _repository(path: Path) -> Path:
    path.mkdir()
    return repository(path)


def _set_traps(folder: Path) -> None:
    set_trap(folder)
    trap = str(folder / "trap.sh")
    command = {"command": [trap], "extensions": [".py"]}
    config = {
        "mcp": {"trap": {"type": "local", "command": [trap]}},
        "formatter": {"trap": command},
        "lsp": {"trap": command},
        "command": {"trap": {"template": f"!`{trap}`"}},
        "plugin": [trap],
    }
    write(
        folder,
        {
            "opencode.json": json.dumps(config),
            ".opencode/plugins/a.py": f"open({str(folder / 'SPRUNG')!r}, 'w')\n",
            ".opencode/tools/b.py": f"open({str(folder / 'SPRUNG')!r}, 'w')\n",
            ".opencode/command/c.md": f"!`{trap}`\n",
            ".opencode/skills/d/SKILL.md": f"---\nname: d\ndescription: !`{trap}`\n---\n!`{trap}`\n",
        },
    )


async def _attack(served: Served, attacks: list[Attack]) -> None:
    """All of them, a few at once; every fault is named at the end."""
    logged = len(served.server.log())
    rest = Queue[Attack]()
    for attack in attacks:
        rest.put(attack)
    found = await asyncio.gather(*(asyncio.to_thread(_work, served.server.url, rest) for _ in range(AT_ONCE)))
    faults = [fault for faults in found for fault in faults]
    assert not faults, f"{len(faults)} of {len(attacks)}:\n" + "\n".join(faults)
    assert "Traceback" not in served.server.log()[logged:]


def _work(url: str, attacks: Queue[Attack]) -> list[str]:
    """The faults that one connection finds; `http.client` sends a path as it is, and fast."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=PATIENCE)
    faults: list[str] = []
    with suppress(Empty), closing(connection):
        while attack := attacks.get_nowait():
            connection.request(attack.method, attack.url, attack.body, HEADERS)
            answer = connection.getresponse()
            text = answer.read().decode()
            kind = answer.headers.get("content-type", "")
            faults += (f"{attack}: {fault}" for fault in _faults(attack, answer.status, kind, text))
    return faults


def _faults(attack: Attack, status: int, kind: str, text: str) -> list[str]:
    found = []
    if status >= 500:
        found.append(f"{status} {text[:200]}")
    if INSIDE.search(text):
        found.append(f"tells of the inside: {text[:300]}")
    if status >= 400 and not _is_error(attack, kind, text):
        found.append(f"no error of its protocol: {status} {text[:200]}")
    return found


def _is_error(attack: Attack, kind: str, text: str) -> bool:
    if not kind.startswith("application/json"):
        return False
    body: Json = json.loads(text)
    if body in WITHOUT_WORDS or body.get("name") in WITHOUT_WORDS:
        return True
    tagged = isinstance(body.get("_tag"), str) and isinstance(body.get("message"), str)
    named = isinstance(body.get("name"), str) and isinstance(body.get("data", {}).get("message"), str)
    return tagged or (named and not attack.url.startswith("/api/"))
