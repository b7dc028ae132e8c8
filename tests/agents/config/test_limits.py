"""Which limits are in force."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agents.config.limits import defaults, in_words, limits_of
from agents.config.loader import Loaded, load
from agents.config.schema import Config


def test_what_nobody_named_holds_by_itself() -> None:
    limits = limits_of(Config.model_validate({"limits": {"calls": {"websearch": 20}}}))
    assert limits.calls == {"*": 500, "websearch": 20}
    assert limits.subagents == defaults().subagents
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**20
    assert limits.command_memory is not None
    assert 0 < limits.command_memory < memory


@pytest.mark.parametrize(
    ("own", "ceiling", "most"), [(False, None, None), (False, 4, 4), (9, 4, 4), (3, 4, 3), (20, False, 20)]
)
def test_a_limit_is_lowered_and_never_raised(own: Any, ceiling: Any, most: Any) -> None:
    values = {"limits": {"subagents": own, "calls": {"*": own}}}
    values["ceilings"] = {"subagents": ceiling, "calls": {"*": ceiling} if ceiling is not None else {}}
    limits = limits_of(Config.model_validate(values))
    assert (limits.subagents, limits.calls.get("*")) == (most, most)


def loaded(root: Path, *, own: str = "{}", project: str) -> Loaded:
    """The configuration of a person and of a repository that nobody trusted."""
    texts = {root / "home/.config/opencode": own, root / "repository": project}
    for folder, text in texts.items():
        folder.mkdir(parents=True)
        (folder / "opencode.json").write_text(text)
    return load(root / "repository", {"HOME": str(root / "home")})


def test_a_repository_lowers_them_without_trust(tmp_path: Path) -> None:
    own = '{"limits": {"subagents": 8, "command_seconds": 300}}'
    project = '{"limits": {"subagents": 2, "command_seconds": 500}}'
    limits = limits_of(loaded(tmp_path, own=own, project=project).config)
    assert (limits.subagents, limits.command_seconds) == (2, 300)


def test_a_wrong_value_is_told_with_its_place(tmp_path: Path) -> None:
    text = '{\n"limits": {\n"subagents": 0,\n"calls": {"bash": "many"},\n"tokens": 3}}'
    found = loaded(tmp_path, project=text)
    assert [(problem.line, problem.key) for problem in found.problems] == [
        (3, "limits.subagents"),
        (4, "limits.calls.bash"),
        (5, "limits.tokens"),
    ]
    assert limits_of(found.config) == defaults()


def test_each_is_said_in_words() -> None:
    every = {"answer_tokens": 1000, "session_tokens": 9000, "command_cpu_seconds": 60, "calls": {"bash": 7}}
    said = in_words(limits_of(Config.model_validate({"limits": {**every, "command_memory": 2048}})))
    assert said == [
        "16 subagents at work at once",
        "500 calls of all tools together in one turn",
        "7 calls of bash in one turn",
        "1,000 output tokens in one answer",
        "9,000 output tokens in one conversation",
        "$100.00 in one conversation",
        "2,048 MB of memory for one command",
        "600 seconds for one command",
        "60 seconds of processor time for one command",
    ]
