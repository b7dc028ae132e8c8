"""The page of servers without a browser: real servers, real files, and what bad input gets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
import pytest_asyncio
from django.http import HttpResponseBase

from agents.agent import trust
from agents.config.schema import McpConfig
from agents.servers.mcp.hub import hub
from agents.servers.mcp.oauth import store
from agents.web.mcp.listing import Row, row
from sessions.rendering.html import html
from tests.agents.servers.mcp.watching import PATIENCE, raw
from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

COMMENTED = """{
  // mine
  "mcp": {
    "raw": %s, // beside it
    "off": {"type": "local", "command": ["x", "<i>"], "enabled": false}
  }
}
"""
SECRET = {"KEY": "s3cret-value"}


class World:
    """A project, the user's own configuration, and the page."""

    def __init__(self, talk: Talk, project: Path, own: Path) -> None:
        self.talk = talk
        self.project = project
        self.own = own / "opencode.jsonc"
        self.client = GuardedClient()

    async def get(self, what: str, **query: str) -> str:
        answer = await self.client.get(f"/servers{what}", {"project": self.talk.project.id, **query})
        assert answer.status_code == 200, answer.content
        return answer.content.decode()

    async def post(self, what: str, **form: Any) -> HttpResponseBase:
        return await self.client.post(f"/servers/mcp/{what}", {"project": self.talk.project.id, **form})

    async def refused(self, what: str, **form: Any) -> str:
        answer: Any = await self.post(what, **form)
        assert answer.status_code == 422, answer.content
        return str(answer.content.decode())

    async def done(self, what: str, **form: Any) -> str:
        """What is read out."""
        answer = await self.post(what, **form)
        assert answer.status_code == 204, getattr(answer, "content", "")
        return str(json.loads(answer["HX-Trigger"])["servers:renew"]["said"])

    async def row(self, name: str) -> Row | None:
        """As soon as nothing is on its first way up."""
        await hub.ready(self.project, PATIENCE)
        return await asyncio.to_thread(row, self.project, name)

    async def status(self, name: str) -> str:
        found = await self.row(name)
        return found.said if found else "none"


@pytest_asyncio.fixture
async def world(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings.TRUST_FILE = tmp_path / "data" / "opencode-web" / "trust.json"
    own = tmp_path / "config" / "opencode"
    own.mkdir(parents=True)
    world = World(await Talk.begin(tmp_path / "project"), tmp_path / "project", own)
    world.own.write_text(COMMENTED % json.dumps(raw(environment=SECRET)))
    yield world
    world.own.unlink(missing_ok=True)
    (world.project / "opencode.json").unlink(missing_ok=True)
    hub.forget(world.project)
    await asyncio.to_thread(hub.connections, world.project)


async def test_the_list_says_how_each_stands_and_hides_secrets(world: World) -> None:
    assert await world.status("raw") == "connected"
    shown = [
        await world.get(""),
        await world.get("/mcp/list"),
        await world.get("/mcp/detail", name="raw"),
        await world.get("/mcp/form", name="raw"),
    ]
    assert "Connected" in shown[0]
    assert "14 tools" in shown[0]
    assert "opencode.jsonc" in shown[0]
    assert "Disabled" in shown[1]
    assert "&lt;i&gt;" in shown[1]
    assert "KEY" in shown[2]
    assert "KEY" in shown[3]
    assert not any("s3cret" in text for text in shown)


async def test_what_a_server_offers_is_shown_under_the_names_that_the_model_sees(world: World) -> None:
    assert await world.status("raw") == "connected"
    detail = await world.get("/mcp/detail", name="raw")
    assert "raw_echo" in detail
    assert "raw____x" in detail
    assert '"type": "object"' in html_text(await world.get("/mcp/schema", name="raw", tool="../x"))
    gone = await world.client.get(
        "/servers/mcp/schema", {"project": world.talk.project.id, "name": "raw", "tool": "no"}
    )
    assert gone.status_code == 404
    unknown = await world.client.get("/servers/mcp/detail", {"project": world.talk.project.id, "name": "no"})
    assert unknown.status_code == 404


async def test_a_broken_server_shows_its_error_and_its_log(world: World) -> None:
    world.own.write_text(json.dumps({"mcp": {"<b>": raw("exits")}}))
    assert await world.status("<b>") == "failed"
    listed = await world.get("/mcp/list")
    assert "exited with code 3" in listed
    assert "&lt;b&gt;" in listed
    assert "<b>" not in listed
    log = await world.get("/mcp/log", name="<b>")
    assert "I do not want to" in log
    assert "<b>" not in await world.get("/badge")
    assert "&lt;b&gt;: failed" in await world.get("/badge")


async def test_the_badge_is_empty_when_nothing_is_wrong(world: World) -> None:
    assert await world.status("raw") == "connected"
    assert (await world.get("/badge")).strip() == ""


async def test_the_log_of_a_server_that_is_gone_is_asked_for_no_more_and_stays(world: World) -> None:
    """An answer put in its place would take away the field that a request after it still sends."""
    gone = await world.client.get("/servers/mcp/log", {"project": world.talk.project.id, "name": "no"})
    assert gone.status_code == 286  # htmx: stop polling
    assert gone["HX-Reswap"] == "none"


async def test_a_log_that_was_seen_is_not_sent_again(world: World) -> None:
    assert await world.status("raw") == "connected"
    seen = (await world.get("/mcp/log", name="raw")).partition('value="')[2].partition('"')[0]
    again = await world.client.get(
        "/servers/mcp/log", {"project": world.talk.project.id, "name": "raw", "seen": seen}
    )
    assert again.status_code == 204


async def test_switching_writes_the_file_and_keeps_its_comments(world: World) -> None:
    assert await world.done("switch", name="raw") == "raw: disabled"
    assert await world.status("raw") == "disabled"
    text = world.own.read_text()
    assert "// mine" in text
    assert "// beside it" in text
    assert "s3cret-value" in text
    assert await world.refused("restart", name="raw")
    assert await world.done("switch", name="raw", on="1") == "raw: enabled"
    assert await world.status("raw") == "connected"
    assert await world.done("restart", name="raw") == "raw: starting again"


async def test_a_projects_server_waits_for_trust(world: World) -> None:
    (world.project / "opencode.json").write_text(json.dumps({"mcp": {"theirs": raw(environment=SECRET)}}))
    assert await world.status("theirs") == "held"
    listed = await world.get("/mcp/list")
    assert "Waits for your trust" in listed
    assert "/pickers/trust" in listed
    assert "raw_server.py" in await world.get("/mcp/detail", name="theirs")
    form = {"name": "theirs", "editing": "1", "kind": "local", "command": "true"}
    for what in ("switch", "try", "test", "save"):
        assert "trust" in await world.refused(what, **form)
    assert "theirs" not in await asyncio.to_thread(hub.connections, world.project)
    shown = trust.fingerprint(trust.untrusted(world.project))
    trust.trust(world.project, shown)
    assert await world.status("theirs") == "connected"


async def test_a_server_is_added_changed_and_removed(world: World) -> None:
    command = raw()["command"]
    new = {"kind": "local", "command": " ".join([*command[:-1], "''"])}
    secret = {"environment_name": ["A", "B"], "environment_value": ["1-secret", "{env:HOME}"]}
    assert await world.done("save", name="new", saved="user", **new, **secret) == "new: saved"
    assert await world.status("new") == "connected"
    assert "// mine" in world.own.read_text()
    assert "There is a server of this name" in await world.refused("save", name="new", **new)
    kept = {"environment_name": ["A"], "environment_value": [""]}
    assert await world.done("save", name="new", editing="1", **new, **kept, timeout="7")
    found = await world.row("new")
    assert found is not None
    assert found.entry["environment"] == {"A": "1-secret"}
    assert found.entry["timeout"] == 7000
    assert "opencode.jsonc" in await world.get("/mcp/removal", name="new")
    assert await world.done("remove", name="new") == "new: removed"
    assert await world.status("new") == "none"
    assert await world.status("raw") == "connected"


async def test_a_sign_in_goes_with_its_server_where_nothing_else_needs_it(
    world: World, settings: Any, tmp_path: Path
) -> None:
    settings.AUTH_FILES = [tmp_path / "data" / "auth.json"]
    form = {"kind": "remote", "url": "http://127.0.0.1:9/mcp"}
    await world.done("save", name="one", **form, saved="user")
    (world.project / "opencode.json").write_text(json.dumps({"mcp": {"one": {"url": form["url"]}}}))
    trust.trust(world.project, trust.fingerprint(trust.untrusted(world.project)))
    found = await world.row("one")
    assert found is not None
    assert found.connection is not None
    await asyncio.to_thread(store.keep, found.connection.server, store.Kept("token"))
    assert "forget its tokens" in await world.get("/mcp/removal", name="one")
    said = await world.done("remove", name="one", sign_out="1")
    assert said == "one: removed, still signed in, as another file has it too"
    assert await world.done("remove", name="one", sign_out="1") == "one: removed, signed out"
    assert json.loads(store.files()[0].read_text()) == {}


async def test_a_server_of_the_project_is_written_into_its_file(world: World) -> None:
    form = {"name": "mine", "saved": "project", "kind": "remote", "url": "http://127.0.0.1:9/mcp"}
    assert await world.done("save", **form)
    written = json.loads((world.project / "opencode.json").read_text())
    assert written["mcp"] == {"mine": {"type": "remote", "url": "http://127.0.0.1:9/mcp"}}
    found = await world.row("mine")
    assert found is not None
    assert (found.scope, found.said) == ("project", "failed")


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"name": "", "kind": "local", "command": "x"}, "a name"),
        ({"name": "n", "kind": "local", "command": "x 'y"}, "No closing quotation"),
        ({"name": "n", "kind": "remote", "url": "ftp://x"}, "http://"),
        ({"name": "n", "kind": "remote", "url": "{file:nowhere}"}, "does not exist"),
        ({"name": "gone", "editing": "1", "kind": "local", "command": "x"}, "any longer"),
    ],
)
async def test_what_is_no_server_is_neither_saved_nor_tried(
    world: World, form: dict[str, str], words: str
) -> None:
    before = world.own.read_text()
    for what in ("save", "test"):
        assert words.lower() in (await world.refused(what, **form)).lower()
    assert world.own.read_text() == before


async def test_a_test_connects_once_and_saves_nothing(world: World) -> None:
    before = world.own.read_text()
    command = " ".join(raw("x")["command"])
    answer: Any = await world.post("test", name="tried", kind="local", command=command)
    assert "It works" in answer.content.decode()
    assert "14 tools" in answer.content.decode()
    broken = command.removesuffix("x") + "exits"
    answer = await world.post("test", name="tried", kind="local", command=broken)
    assert "It does not work" in answer.content.decode()
    assert "I do not want to" in answer.content.decode()
    assert world.own.read_text() == before
    assert await world.status("tried") == "none"
    answer = await world.post("try", name="off")
    assert "x is not there" in answer.content.decode()
    assert await world.status("off") == "disabled"


async def test_what_a_client_added_is_said_and_goes_with_the_run(world: World) -> None:
    await asyncio.to_thread(hub.add, world.project, "added", cast(McpConfig, raw()))
    found = await world.row("added")
    assert found is not None
    assert (found.scope, found.said) == ("client", "connected")
    assert "added by a client" in await world.get("/mcp/list")
    before = world.own.read_text()
    await world.done("switch", name="added")
    assert await world.status("added") == "disabled"
    await world.done("remove", name="added")
    assert await world.status("added") == "none"
    assert world.own.read_text() == before


async def test_a_server_from_the_environment_is_not_removed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"mcp": {"set": raw()}}))
    assert await world.status("set") == "connected"
    assert "OPENCODE_CONFIG_CONTENT" in await world.refused("remove", name="set")
    await world.done("switch", name="set")
    assert await world.status("set") == "disabled"


async def test_words_of_a_command_are_shown_with_what_no_shell_does(world: World) -> None:
    shown = await world.get("/mcp/words", command="A=1 <b> | '$x y'")
    assert "&lt;b&gt;" in shown
    assert "$x y" in shown
    assert "No shell reads this line" in shown
    assert "Variables belong" in shown
    assert "closing quotation" in await world.get("/mcp/words", command="'")


def test_a_resource_is_text_and_nothing_else() -> None:
    hostile = {"uri": "x", "kind": "text/html", "text": "<script>alert(1)</script>\u202e"}
    shown = html("mcp/resource.html", contents=[hostile])
    assert "&lt;script&gt;" in shown
    assert "\u202e" not in shown


def html_text(text: str) -> str:
    return text.replace("&quot;", '"')
