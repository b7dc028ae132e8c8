"""The settings on their page, over real files: where each comes from, and what a change makes of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agents.config import jsonc
from agents.config.reader import patched
from agents.config.schema import Config
from agents.web.configuration.catalogue import Setting, by_key
from agents.web.configuration.values import changed, nested, patch_of
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import permissions
from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
UNLISTED = frozenset({"$schema", "theme", "autoshare", "restrictions", "ceilings"})
"""Keys of the schema that are no setting: of other programs, older names, and what is not written."""
OWN = """{
  // what I like
  "username": "Ada", // me
  "provider": {
    "acme": {
      "options": {"apiKey": "s3cret-key", "baseURL": "http://127.0.0.1:9/v1"}, // do not touch
    },
  },
}
"""


class World:
    def __init__(self, talk: Talk, own: Path) -> None:
        self.talk = talk
        self.own = own
        self.of_project = Path(talk.project.worktree) / "opencode.json"
        self.client = GuardedClient()

    async def page(self, where: str = "own") -> str:
        query = {"project": self.talk.project.id, "where": where}
        answer = await self.client.get("/settings/configuration", query)
        assert answer.status_code == 200
        return answer.content.decode()

    async def row(self, key: str, where: str = "own") -> str:
        """The text of one setting."""
        element = f'id="{by_key()[key].id}" '
        found = (await self.page(where)).partition(element)[2].partition('class="setting"')[0]
        return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", found)))

    async def post(self, what: str, key: str, status: int = 200, /, **fields: str) -> str:
        given = {"project": self.talk.project.id, "where": "own", "key": key, **fields}
        answer: Any = await self.client.post(f"/settings/configuration/{what}", given)
        assert answer.status_code == status, answer.content
        return str(answer.content.decode())


@pytest_asyncio.fixture
async def world(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> World:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings.TRUST_FILE = tmp_path / "data" / "opencode-web" / "trust.json"
    own = tmp_path / "config" / "opencode" / "opencode.jsonc"
    own.parent.mkdir(parents=True)
    own.write_text(OWN)
    return World(await Talk.begin(tmp_path / "project"), own)


def keys_of(model: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        key = f"{before}{field.alias or name}"
        inner = next((each for each in _types(field.annotation) if issubclass(each, BaseModel)), None)
        if inner is None:
            yield key
        else:
            yield from keys_of(inner, f"{key}.")


def _types(annotation: Any) -> Iterator[type]:
    """A model itself, or one that may be left out; of containers there are none."""
    if isinstance(annotation, type):
        yield annotation
    elif getattr(annotation, "__origin__", None) not in (dict, list):
        yield from (each for each in getattr(annotation, "__args__", ()) if isinstance(each, type))


def test_every_key_of_the_schema_is_a_setting() -> None:
    known = {key for key in keys_of(Config) if key.partition(".")[0] not in UNLISTED}
    assert known == set(by_key())


async def test_each_says_where_it_comes_from(world: World) -> None:
    world.of_project.write_text('{"compaction": {"auto": false}, "username": "<b>Team</b>"}')
    assert "Default" in await world.row("keep_ignored")
    assert str(world.of_project) in await world.row("compaction.auto")
    page = await world.page()
    assert 'value="&lt;b&gt;Team&lt;/b&gt;"' in page
    assert "<b>Team" not in page
    assert "s3cret" not in page + await world.page("project")


async def test_a_change_is_shown_first_and_can_be_taken_back(world: World) -> None:
    draft = await world.post("draft", "compaction.auto", value="false")
    assert "compaction" in draft
    assert "s3cret" not in draft
    assert world.own.read_text() == OWN
    written = await world.post("change", "compaction.auto", value="false")
    assert '"auto": false' in world.own.read_text()
    assert world.own.read_text().startswith(OWN[: OWN.index("},\n}")])
    assert world.own.name in written
    back = json.loads(unescape(re.findall(r'hx-vals="(.+?)"', written.partition("toast")[2])[0]))
    await world.post("change", back.pop("key"), **{**back, "where": back["where"]})
    assert "auto" not in world.own.read_text()
    assert "says so already" in await world.post("draft", "username", value="Ada")


async def test_the_projects_file_is_written_where_it_is_chosen(world: World) -> None:
    await world.post("change", "keep_ignored", where="project", value="50")
    assert json.loads(world.of_project.read_text())["keep_ignored"] == 50
    assert world.own.read_text() == OWN
    assert str(world.of_project) in await world.row("keep_ignored", "project")
    await world.post("change", "keep_ignored", where="project", remove="1")
    assert "keep_ignored" not in world.of_project.read_text()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("subagent_depth", "-1", "greater than or equal to 0"),
        ("subagent_depth", "many", "no number"),
        ("permission", '{"bash": "perhaps"}', "bash"),
        ("provider", "{acme: 1}", "line 1"),
        ("resume", "never", "ask"),
        ("limits.session_tokens", "0", "limits.session_tokens"),
    ],
)
async def test_what_is_wrong_is_said_and_nothing_written(
    world: World, key: str, value: str, words: str
) -> None:
    for what in ("draft", "change"):
        said = unescape(await world.post(what, key, 422, value=value))
        assert words.removeprefix(f"{key}") in said
    assert world.own.read_text() == OWN


async def test_a_file_that_cannot_be_read_is_never_replaced(world: World) -> None:
    world.own.write_text("{username: 'Ada'}")
    said = unescape(await world.post("change", "username", 422, value="Grace"))
    assert "line 1" in said
    assert world.own.read_text() == "{username: 'Ada'}"


async def test_a_secret_that_is_not_shown_stays(world: World) -> None:
    shown = (await world.page()).partition('id="setting-provider-value"')[2].partition("</textarea>")[0]
    text = unescape(shown.partition(">")[2])
    assert '"apiKey": "…"' in text
    value = text.replace("9/v1", "10/v1")
    draft = await world.post("draft", "provider", value=value)
    assert "10/v1" in draft
    assert "s3cret" not in draft
    await world.post("change", "provider", value=value)
    assert world.own.read_text() == OWN.replace("9/v1", "10/v1")


async def test_what_waits_for_trust_is_not_in_force_and_said(world: World) -> None:
    world.of_project.write_text('{"mcp": {"x": {"type": "local", "command": ["x"]}}, "snapshot": false}')
    assert "waits for your trust" in await world.row("mcp")


async def test_a_setting_that_there_is_not_is_no_page(world: World) -> None:
    await world.post("draft", "nothing", 404, value="1")


TREES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3) | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.text(min_size=1, max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(min_size=1, max_size=3), TREES), TREES)
def test_a_change_makes_of_what_is_there_what_is_wanted(now: dict[str, Any], wanted: Any) -> None:
    made = patched({"k": now}, nested(("k",), changed(now, wanted)))
    assert made == {"k": wanted}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("lines", " a \r\n\r\nb", ["a", "b"]), ("whole", "", None), ("limit", "7", 7), ("text", " ", None)],
)
def test_what_is_filled_in_is_read(kind: Any, text: str, value: Any) -> None:
    fields = QueryDict(mutable=True)
    fields["value"] = text
    assert patch_of(Setting("k", "K", kind=kind), fields, None) == value


async def test_an_agent_is_changed_part_by_part(world: World) -> None:
    folder = Path(world.talk.project.worktree) / ".opencode" / "agents"
    folder.mkdir(parents=True)
    (folder / "critic.md").write_text("---\ndescription: Judges <b>\n---\nBe hard.\n")
    page = await world.page()
    assert "critic" in page
    assert "Judges &lt;b&gt;" in page
    query = {"project": world.talk.project.id, "kind": "agent", "name": "critic"}
    entry = (await world.client.get("/settings/configuration/entry", query)).content.decode()
    assert "critic.md" in entry
    assert "Be hard." in entry
    await world.post("change", "agent/a.b/c/prompt", value="Say\r\n  less.\r\n")
    await world.post("change", "agent/a.b/c/steps", value="7")
    written = world.own.read_text()
    assert '"prompt": "Say\\n  less."' in written
    assert '"steps": 7' in written
    assert "greater than 0" in unescape(await world.post("draft", "agent/a.b/c/steps", 422, value="-1"))
    assert "a.b/c" in await world.page()
    await world.post("change", "agent/a.b/c/", remove="1")
    assert "a.b/c" not in world.own.read_text()


async def test_an_agent_is_copied(world: World) -> None:
    world.own.write_text(
        '{"agent": {"explore": {"model": "acme/large", "permission": {"bash": "deny"}, "apiKey": "s3cret"}}}'
    )
    asked = {"kind": "agent", "copy": "explore", "project": world.talk.project.id, "where": "own"}

    async def post(what: str, status: int = 200, **fields: str) -> str:
        answer: Any = await world.client.post(f"/settings/configuration/{what}", {**asked, **fields})
        assert answer.status_code == status, answer.content
        return unescape(answer.content.decode())

    assert '"searcher"' in re.sub(r"<[^>]+>", "", await post("draft", name=" searcher "))
    assert "searcher" not in world.own.read_text()
    done = await post("change", name="searcher")
    made = json.loads(world.own.read_text())["agent"]["searcher"]
    assert (made["mode"], made["model"]) == ("subagent", "acme/large")
    assert list(made["permission"]["bash"].items())[-1] == ("*", "deny")
    assert made["permission"]["*"] == {"*": "deny"}, made["permission"]  # as that of the tool that writes
    assert "code" in made["prompt"]
    assert "apiKey" not in made
    back = json.loads(re.findall(r'hx-vals="({.+?})"', done)[0])
    for name, words in (("searcher", "already"), ("build", "already")):
        assert words in await post("draft", 422, name=name)
    assert "no agent none" in await post("draft", 422, name="x", copy="none")
    await post("draft", 404, name="")
    await world.post("change", back.pop("key"), **back)
    assert "searcher" not in world.own.read_text()


async def test_rules_are_tried_on_what_was_decided(world: World) -> None:
    session = await in_db(lambda: Session.objects.select_related("project").get(id=world.talk.session.id))
    for command in ("git push <i>", "git push <i>", "ls"):
        call = permissions.Call(session, "", "bash", [command], "")
        await in_db(permissions.note, call, "allow", "configuration")

    async def tried(key: str, rules: Any, **fields: str) -> str:
        page = await world.post("draft", key, value=json.dumps(rules), **fields)
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.partition("setting-past")[2])).split())

    world.own.write_text('{"permission": {"bash": "allow"}}')
    said = await tried("permission", {"bash": {"*": "allow", "git push *": "ask"}})
    assert "Of the last 3 calls of this project, by the rules of build, 2 would be decided otherwise" in said
    assert "bash git push <i> allow → ask, 2 times" in said
    assert "None of the last 3 calls" in await tried("permission", {"bash": "allow", "edit": "deny"})
    # Of one agent; and in a file before which another one counts.
    assert "by the rules of plan" in await tried("agent/plan/permission", {"bash": {"ls": "deny"}})
    world.of_project.write_text('{"permission": {"bash": {"git push *": "deny"}}}')
    assert "None of the last" in await tried("permission", {"bash": {"*": "allow", "git push *": "ask"}})
    assert "setting-past" not in await world.post("draft", "username", value="Grace")
    assert "would be decided" not in await tried("agent/none/permission", {"bash": "deny"})


async def test_a_command_is_copied(world: World) -> None:
    world.own.write_text('{"command": {"tidy": {"template": "Tidy $1", "subtask": true}}}')
    fields = {
        "kind": "command",
        "copy": "tidy",
        "name": "mop",
        "where": "own",
        "project": world.talk.project.id,
    }
    await world.client.post("/settings/configuration/change", fields)
    commands = json.loads(world.own.read_text())["command"]
    assert commands["mop"] == commands["tidy"]


MODELS = """{
  "provider": {
    "acme": {"options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "s3cret-key"}, "models": {
      // ours
      "big/one": {"cost": {"input": 1, "output": 2, "context_over_200k": {"input": 3}}},
    }},
  },
}
"""


async def test_windows_and_prices_of_a_model_are_shown_and_changed(world: World) -> None:
    world.own.write_text(MODELS)
    query = {"project": world.talk.project.id}
    listed = (await world.client.get("/settings/configuration/models", query)).content.decode()
    assert "acme/big/one" in listed
    assert "1 and 2 US$" in listed
    entry = {**query, "kind": "model", "name": "acme/big/one"}
    shown = (await world.client.get("/settings/configuration/entry", entry)).content.decode()
    numbers = dict(
        re.findall(r'name="value-(\w+)"\s+type="number" min="0" step="any" value="([^"]*)"', shown)
    )
    assert numbers["cache_read"] == ""
    assert int(numbers["context"]) > 1000  # what is known of it, though no file says so
    refused = await world.post("draft", "model/acme/big/one/limit", 422, **{"value-context": "5"})
    assert "belong together" in refused
    await world.post(
        "change", "model/acme/big/one/limit", **{"value-context": "32000", "value-output": "4000"}
    )
    given = {"value-input": "0.25", "value-output": "2", "value-cache_read": "0.1"}
    done = await world.post("change", "model/acme/big/one/cost", **given)
    text = world.own.read_text()
    assert "// ours" in text
    model = jsonc.Document(text).value["provider"]["acme"]["models"]["big/one"]
    assert model["limit"] == {"context": 32000, "output": 4000}
    assert model["cost"]["cache_read"] == 0.1
    assert model["cost"]["context_over_200k"] == {"input": 3}
    back = json.loads(unescape(re.findall(r'hx-vals="(.+?)"', done.partition("toast")[2])[0]))
    await world.post("change", back.pop("key"), **back)
    model = jsonc.Document(world.own.read_text()).value["provider"]["acme"]["models"]["big/one"]
    assert model["cost"] == {"input": 1, "output": 2, "context_over_200k": {"input": 3}}
    await world.post("change", "model/acme/big/one/limit", **{"value-context": "", "value-output": ""})
    assert "limit" not in world.own.read_text()


async def test_what_a_variable_says_counts_before_the_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", '{"username": "Grace"}')
    row = await world.row("username")
    assert "From OPENCODE_CONFIG_CONTENT" in row
    assert "does not count: that one comes after" in row
    assert "does not count" not in await world.row("username", "project")


@pytest.mark.parametrize(
    "text", ["{'a': 1}", "{a: 1}", '{"a": +1}', '{"a": .5}', '{"a": 0x1F}', '{"a": 1,, }', "[1]", "{"]
)
async def test_an_odd_file_is_refused_in_words_and_stays(world: World, text: str) -> None:
    world.own.write_text(text)
    for what in ("draft", "change"):
        said = unescape(await world.post(what, "username", 422, value="Grace"))
        assert re.search(r"line 1|expected an object", said)
    assert world.own.read_text() == text


@pytest.mark.parametrize(
    "key", ["agent//prompt", "agent/x/nothing", "mcp/x/url", "model/x/name", f"agent/{'x' * 201}/prompt"]
)
async def test_a_part_that_there_is_not_is_no_page(world: World, key: str) -> None:
    await world.post("draft", key, 404, value="1")
