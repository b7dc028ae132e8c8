"""What a model would be told, on a page: in its order, with where each text comes from."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

SKILL = "---\nname: release\ndescription: How a release is made\n---\nTag it.\n"


@pytest_asyncio.fixture
async def talk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings.TRUST_FILE = tmp_path / "trust.json"
    return await Talk.begin(tmp_path / "project")


async def page(talk: Talk, **query: str) -> str:
    answer = await GuardedClient().get("/settings/told", {"project": talk.project.id, **query})
    assert answer.status_code == 200
    return answer.content.decode()


def text(html: str) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html)))


def told(html: str, heading: str) -> list[tuple[str, str, str]]:
    """Title, origin and text of each entry below a heading."""
    section = html.partition(f'id="{heading}"')[2].partition("</section>")[0]
    entries = section.split("<details>")[1:]
    parts = (
        re.split(r"<summary>|<span class=\"soft told-origin\">|<span class=\"told-tokens\">|<pre", one)
        for one in entries
    )
    return [
        (text(one[1]).strip(), text(one[2]).strip() if len(one) == 5 else "", text(f"<p{one[-1]}"))
        for one in parts
    ]


@pytest.fixture
def folder(talk: Talk) -> Path:
    folder = Path(talk.project.worktree)
    (folder / "AGENTS.md").write_text("Write tests <first>.")
    (folder / "NOTES.md").write_text("Ask before you push.")
    (folder / "opencode.json").write_text(json.dumps({"instructions": ["NOTES.md"]}))
    skill = folder / ".opencode" / "skills" / "release"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL)
    (skill / "tag.sh").write_text("git tag")
    return folder


async def test_texts_come_in_the_order_of_the_request(talk: Talk, folder: Path) -> None:
    html = await page(talk)
    texts = told(html, "told-texts")
    titles = [title for title, _, _ in texts]
    assert titles[:3] == ["Prompt of the agent", "Date", "Surroundings"]
    assert titles[-2:] == ["Skills", "Scratch files"]
    instructions = [
        (Path(origin).name, said.strip()) for title, origin, said in texts if title == "Instructions"
    ]
    assert instructions == [("AGENTS.md", "Write tests <first>."), ("NOTES.md", "Ask before you push.")]
    assert re.search(r"[\d,]+ tokens for \S+/\S+", text(html))


async def test_tools_and_skills_are_those_of_the_agent(talk: Talk, folder: Path) -> None:
    config = {"agent": {"reader": {"mode": "primary", "permission": {"edit": "deny", "skill": "deny"}}}}
    (folder / "opencode.json").write_text(json.dumps(config))
    own, reader = await page(talk), await page(talk, agent="reader")
    tools = [{title for title, _, _ in told(html, "told-tools")} for html in (own, reader)]
    assert {"edit", "read", "skill"} <= tools[0]
    assert {"edit", "skill"}.isdisjoint(tools[1])
    assert "Not for this agent" not in own
    assert re.search("release Not for this agent How a release is made .*SKILL.md, with tag.sh", text(reader))


async def test_what_cannot_be_known_is_said(talk: Talk) -> None:
    assert "There is no agent named 'nobody'" in text(await page(talk, agent="nobody"))
    answer = await GuardedClient().get("/settings/told", {"project": "none"})
    assert answer.status_code == 404
