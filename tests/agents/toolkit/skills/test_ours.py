"""The skill that comes with the program: it is found, and what it says of the configuration is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

from agents.config.check import unknown_keys, wrong
from agents.config.frontmatter import Document
from agents.config.schema import Config
from agents.toolkit.definitions import PROMPTS
from agents.toolkit.skills import body, discover, read_skill
from tests.agents.toolkit.skills.conftest import write_skill

OURS = PROMPTS / "skills" / "opencode-web" / "SKILL.md"
TEXT = OURS.read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def test_it_is_there_until_a_nearer_one_takes_its_place(tmp_path: Path) -> None:
    assert discover(tmp_path, Config()).skills["opencode-web"].location == OURS
    mine = write_skill(tmp_path / ".opencode/skills/opencode-web")
    assert discover(tmp_path, Config()).skills["opencode-web"].location == mine


def test_its_examples_are_configuration() -> None:
    examples = [json.loads(block) for block in blocks("json")]
    assert len(examples) == 4
    for example in examples:
        assert wrong(example) == {}
        assert list(unknown_keys(Config.model_validate(example))) == []
    agent, command = blocks("markdown")
    made = Config.model_validate(
        Document(agent, "agent", "reviewer").value | Document(command, "command", "changelog").value
    )
    assert made.agent["reviewer"].mode == "subagent"
    assert made.agent["reviewer"].model_extra == {}
    assert made.command["changelog"].agent == "build"


def test_the_keys_that_it_names_are_there() -> None:
    more = re.search(r"^More: (.*?)\n\n", body(read_skill(OURS)[0]), re.DOTALL | re.MULTILINE)
    assert more is not None
    named = set(re.findall(r"`([a-z_.]+)`", re.sub(r"\([^)]*\)", "", more[1])))
    sections = {
        f"{key}.{inner}"
        for key in ("watcher", "skills")
        for inner in type(getattr(Config(), key)).model_fields
    }
    assert named <= set(Config.model_fields) | sections
    assert {"compaction", "tool_output", "watcher.ignore"} <= named
