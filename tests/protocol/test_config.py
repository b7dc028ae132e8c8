"""`/config` and `/global/config`: read, changed, refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.protocol.conftest import ASKED, repository
from tests.protocol.served import Served
from tests.server import until

pytestmark = pytest.mark.asyncio(loop_scope="session")

REFUSED = "OpenCode answers a bad body in a shape that its document does not have, and so do we"
UNREADABLE = "OpenCode's own error for it is not in its document"
KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path)


@pytest.fixture
def own(served: Served) -> Iterator[Path]:
    """The folder of the user's own configuration, empty again afterwards."""
    folder = served.server.home / ".config" / "opencode"
    yield folder
    for file in folder.glob("*"):
        file.unlink()


async def patch(served: Served, project: Path, body: Any, **options: Any) -> Any:
    return await served.ask("PATCH", "/config", body, directory=str(project), **options)


async def test_the_merged_configuration_without_secrets(served: Served, project: Path) -> None:
    (project / "opencode.json").write_text('{"username": "bob", "theme": "x", "autoupdate": false}')
    found = await served.get("/config", directory=str(project))
    assert found["model"] == "fake/fake"
    assert found["username"] == "bob"
    assert "theme" not in found
    assert found["autoupdate"] is False
    assert found["provider"]["fake"]["options"]["apiKey"] == "…"
    assert found["agent"] == found["command"] == {}
    assert "username" not in await served.get("/config")


async def test_agents_are_told_as_opencode_tells_them(served: Served, project: Path) -> None:
    reader = {"maxSteps": 3, "reasoningEffort": "high", "tools": {"write": False}, "permission": "ask"}
    found = await patch(served, project, {"agent": {"reader": reader}, "tools": {"webfetch": False}})
    assert found["agent"]["reader"] == {
        **reader,
        "steps": 3,
        "options": {"reasoningEffort": "high"},
        "permission": {"edit": "deny", "*": "ask"},
    }
    assert found["permission"] == {"webfetch": "deny", **ASKED}
    written = json.loads((project / "opencode.json").read_text())
    assert written["agent"]["reader"] == reader, "a file stays as it was written"


async def test_what_a_repository_restricts_is_among_the_rules(served: Served, project: Path) -> None:
    rules = {"bash": "ask", "external_directory": {"/a/*": "deny"}, "edit": "deny"}
    text = json.dumps({"permission": rules, "agent": {"reader": {"permission": {"bash": "deny"}}}})
    (project / "opencode.json").write_text(text)
    found = await served.get("/config", directory=str(project))
    assert found["permission"] == {
        **ASKED,
        "bash": {"*": "ask", "touch *": "ask"},
        "edit": {"*": "deny", "asked*": "deny"},
        "external_directory": {"/a/*": "deny"},
    }
    assert found["agent"]["reader"]["permission"] == {"bash": "deny"}


KINDS = ("catalog", "integration", "reference")


async def test_a_change_is_written_in_place_and_told(served: Served, project: Path) -> None:
    file = project / "opencode.jsonc"
    file.write_text('// mine\n{\n  "model": "a/b", // for now\n  "username": "bob"\n}\n')
    await served.get("/config", directory=str(project))
    async with served.client.http.stream("GET", "/event", params={"directory": str(project)}) as stream:
        frames = (json.loads(line[5:]) async for line in stream.aiter_lines() if line.startswith("data:"))
        assert (await anext(frames))["type"] == "server.connected"
        found = await patch(served, project, {"model": "fake/fake", "username": None, "share": "manual"})
        assert found["model"] == "fake/fake"
        assert "username" not in found
        *news, last = [event async for event in frames]
    assert {event["type"] for event in news} == {f"{kind}.updated" for kind in KINDS}
    assert last["type"] == "server.instance.disposed"
    assert last["properties"] == {"directory": str(project)}
    assert file.read_text() == '// mine\n{\n  "model": "fake/fake", // for now\n  "share": "manual"\n}\n'
    assert not list(project.glob(".opencode*"))


async def test_what_is_loaded_is_told_in_the_folder_and_everywhere(served: Served, project: Path) -> None:
    here = {"directory": str(project)}
    wanted = {f"{kind}.updated" for kind in KINDS}
    async with (
        served.client.http.stream("GET", "/event", params=here) as stream,
        served.client.http.stream("GET", "/global/event") as everywhere,
    ):
        await served.get("/provider", **here)
        assert await _types(stream, len(wanted)) == wanted
        assert await served.post("/instance/dispose", **here) is True
        told: dict[str, int] = {}
        async for line in everywhere.aiter_lines():
            found = json.loads(line[5:]) if line.startswith("data:") else {}
            if found.get("directory") == str(project):
                type = found["payload"]["type"]
                told[type] = told.get(type, 0) + 1
            if all(told.get(type) == 2 for type in wanted):
                break


async def _types(stream: httpx.Response, count: int) -> set[str]:
    """Of the first events of a stream after that which says that it stands."""
    found: list[str] = []
    async for line in stream.aiter_lines():
        if line.startswith("data:"):
            found.append(json.loads(line[5:])["type"])
        if len(found) > count:
            break
    return set(found[1:])


async def test_what_a_person_writes_so_needs_no_trust(served: Served, project: Path) -> None:
    server = {"type": "local", "command": ["x"], "enabled": False}
    found = await patch(served, project, {"mcp": {"mine": server}})
    assert found["mcp"] == {"mine": server}
    assert json.loads((project / "opencode.json").read_text())["mcp"] == {"mine": server}


@pytest.mark.parametrize(
    "theirs", [{"mcp": {"theirs": {"type": "local", "command": ["x"]}}}, {"permission": {"bash": "ask"}}]
)
async def test_what_a_repository_brought_along_goes_on_waiting(
    served: Served, project: Path, theirs: dict[str, Any]
) -> None:
    (project / "opencode.json").write_text(json.dumps(theirs))
    found = await patch(served, project, {"formatter": True, "model": "fake/fake"})
    assert "mcp" not in found
    assert "formatter" not in found
    assert json.loads((project / "opencode.json").read_text())["formatter"] is True


async def test_a_secret_that_was_not_shown_stays_what_it_is(served: Served, own: Path) -> None:
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"apiKey": KEY}, "models": {"m": {}}}
    plugin = [["mine", {"token": KEY, "at": f"https://me:{KEY}@x"}]]
    shown = await served.ask(
        "PATCH", "/global/config", {"provider": {"box": provider}, "plugin": plugin, "username": "bob"}
    )
    assert KEY not in json.dumps(shown)
    assert shown["provider"]["box"]["options"]["apiKey"] == "…"
    again = await served.ask("PATCH", "/global/config", {**shown, "username": "eve"})
    assert again["username"] == "eve"
    (file,) = own.iterdir()
    assert file.name == "opencode.jsonc"
    assert file.stat().st_mode & 0o777 == 0o600
    written = json.loads(file.read_text())
    assert written["provider"]["box"]["options"]["apiKey"] == KEY
    assert written["plugin"] == plugin
    refused = await served.ask(
        "PATCH", "/global/config", {"plugin": ["…", "other"]}, status=400, departs=REFUSED
    )
    assert "plugin.0" in refused["data"]["message"]


async def test_a_secret_of_another_source_is_not_copied(served: Served, project: Path) -> None:
    await patch(served, project, await served.get("/config", directory=str(project)))
    written = json.loads((project / "opencode.json").read_text())
    assert "apiKey" not in written["provider"]["fake"]["options"]


async def test_the_users_own_configuration_is_without_the_projects(
    served: Served, project: Path, own: Path
) -> None:
    await patch(served, project, {"username": "bob"})
    await served.get("/provider")
    async with served.client.events() as events:
        found = await served.ask("PATCH", "/global/config", {"small_model": "fake/fake"})
        await until(events, "server.instance.disposed", directory=str(served.server.project))
    assert found["small_model"] == "fake/fake"
    assert "username" not in await served.get("/global/config")
    assert (await served.get("/config", directory=str(project)))["small_model"] == "fake/fake"


@pytest.mark.parametrize(
    ("body", "key"),
    [
        ({"model": 3}, "model"),
        ({"permission": {"bash": "maybe"}}, "permission.bash"),
        ({"agent": {"build": {"steps": -1}}}, "agent.build.steps"),
        ({"command": {"x": {"description": "no template"}}}, "command.x"),
        ({"mcp": {"x": {"type": "local", "command": "{file:missing.txt}"}}}, "mcp.x.command"),
        ({"compaction": []}, "compaction"),
        ([], "body"),
        ("text", "body"),
    ],
)
async def test_a_change_that_does_not_fit_is_not_written(
    served: Served, project: Path, body: Any, key: str
) -> None:
    refused = await patch(served, project, body, status=400, departs=REFUSED)
    assert refused["name"] == "BadRequest"
    assert key in refused["data"]["message"]
    assert not (project / "opencode.json").exists()


async def test_too_deep_and_too_large(served: Served, project: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"a": deep}
    for body in ({"experimental": deep}, {"experimental": {"a": "x" * 1024 * 1024}}):
        await patch(served, project, body, status=400, departs=REFUSED)
    assert not (project / "opencode.json").exists()


async def test_no_json_at_all(served: Served, project: Path) -> None:
    for content in (b"{", b'{"model": "\xff"}', b'{"username": "\\ud800"}', b""):
        answer = await served.http.patch(
            "/config",
            params={"directory": str(project)},
            content=content,
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 400
        assert answer.json()["name"] == "BadRequest"
    assert not (project / "opencode.json").exists()


@pytest.mark.parametrize("content", [b"{ broken", b"[]", b'{"model": "\xff"}'])
async def test_a_file_that_cannot_be_read_is_left_alone(
    served: Served, project: Path, content: bytes
) -> None:
    (project / "opencode.json").write_bytes(content)
    refused = await patch(served, project, {"username": "bob"}, status=400, departs=UNREADABLE)
    assert refused["name"] == "ConfigJsonError"
    assert refused["data"]["path"] == str(project / "opencode.json")
    assert (project / "opencode.json").read_bytes() == content
    assert (await served.get("/config", directory=str(project)))["model"] == "fake/fake"


async def test_what_was_wrong_before_is_no_reason_to_refuse(served: Served, project: Path) -> None:
    (project / "opencode.json").write_text('{"model": 3}')
    assert (await patch(served, project, {"username": "bob"}))["username"] == "bob"
    assert json.loads((project / "opencode.json").read_text()) == {"model": 3, "username": "bob"}


async def test_a_link_out_of_the_project_is_not_followed(served: Served, tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    project, outside = repository(tmp_path / "p"), tmp_path / "outside.json"
    outside.write_text("{}")
    (project / "opencode.json").symlink_to(outside)
    await patch(served, project, {"username": "bob"}, status=400, departs=REFUSED)
    assert outside.read_text() == "{}"
    inside = project / "src" / "settings.json"
    inside.write_text("{}")
    (project / "opencode.jsonc").symlink_to(inside)
    found = await patch(served, project, {"formatter": True})
    assert found["formatter"] is True
    assert json.loads(inside.read_text()) == {"formatter": True}
    assert (project / "opencode.jsonc").is_symlink()
