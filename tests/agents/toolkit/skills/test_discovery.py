"""Where skills are found, which wins, what is refused and said, and that nothing is read twice."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from unittest.mock import patch

import pytest
from pytest_django import Settings

from agents.config.schema import Config
from agents.toolkit import skills
from agents.toolkit.permission.rules import from_config
from agents.toolkit.skills import MAX_BYTES, BadSkill, body, discover, files_beside, permitted
from tests.agents.toolkit.skills.conftest import write_skill

NOTHING = Config()


@pytest.mark.parametrize(
    "place",
    [
        ".opencode/skill/a",
        ".opencode/skills/a",
        ".opencode/skills/deep/er/a",
        ".claude/skills/a",
        ".agents/skills/a",
    ],
)
def test_skills_are_found_from_the_folder_up_to_the_root_and_not_above(project: Path, place: str) -> None:
    inner = project / "packages" / "one"
    inner.mkdir(parents=True)
    file = write_skill(project / place)
    write_skill(project.parent / ".claude/skills/above")
    found = discover(inner, NOTHING)
    assert {name: skill.location for name, skill in found.skills.items()} == {"a": file}
    assert found.skills["a"].description == "How to a."
    assert not found.problems


def test_the_users_own_and_the_configured_folders_are_searched(home: Path, project: Path) -> None:
    for folder in (
        ".config/opencode/skill/a",
        ".config/opencode/skills/b",
        ".claude/skills/c",
        ".agents/skills/d",
    ):
        write_skill(home / folder)
    write_skill(project / "more/e")
    write_skill(home / "others/f")
    config = Config.model_validate({"skills": {"paths": ["more", "~/others", "missing"]}})
    found = discover(project, config)
    assert sorted(found.skills) == list("abcdef")
    assert [(problem.file.name, problem.message) for problem in found.problems] == [
        ("missing", "the folder named in skills.paths does not exist")
    ]


def test_the_nearest_of_a_name_wins_and_the_log_says_so(
    home: Path, project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    inner = project / "inner"
    farther = [write_skill(place / "a") for place in (project / ".opencode/skills", home / ".claude/skills")]
    nearest = write_skill(inner / ".agents/skills/a")
    with caplog.at_level(logging.WARNING):
        assert discover(inner, NOTHING).skills["a"].location == nearest
    for file in farther:
        assert f"{file} is left out: {nearest} is nearer" in caplog.text


def test_project_skills_can_be_switched_off(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_skill(project / ".opencode/skills/theirs")
    write_skill(home / ".claude/skills/mine")
    monkeypatch.setenv("OPENCODE_DISABLE_PROJECT_CONFIG", "1")
    assert list(discover(project, NOTHING).skills) == ["mine"]


@pytest.mark.parametrize(
    ("variable", "left"),
    [
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", ["ours"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", ["agents", "ours"]),
        ("OPENCODE_DISABLE_CLAUDE_CODE", ["agents", "ours"]),
    ],
)
def test_skills_of_other_agents_can_be_switched_off(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, variable: str, left: list[str]
) -> None:
    for folder in (".opencode/skills/ours", ".claude/skills/claude", ".agents/skills/agents"):
        write_skill(project / folder)
    write_skill(home / ".claude/skills/mine")
    monkeypatch.setenv(variable, "1")
    assert sorted(discover(project, NOTHING).skills) == left


def test_of_a_persons_own_folders_the_last_counts(home: Path, project: Path, settings: Settings) -> None:
    first = write_skill(home / ".config/opencode/skills/a")
    settings.CONFIG_DIRS.append(home / ".opencode")
    assert discover(project, NOTHING).skills["a"].location == first
    last = write_skill(home / ".opencode/skill/a")
    assert discover(project, NOTHING).skills["a"].location == last


@pytest.mark.parametrize(
    ("folder", "fields", "message"),
    [
        ("a", {"name": ""}, "`name` is missing"),
        ("A", {}, "lower-case letters"),
        ("a_b", {}, "lower-case letters"),
        ("a--b", {}, "lower-case letters"),
        ("-a", {}, "lower-case letters"),
        ("x" * 65, {}, "64 characters at most"),
        ("a", {"description": ""}, "`description` is missing"),
        ("a", {"description": "x" * 1025}, "`description` has 1025 characters; the limit is 1024"),
        ("a", {"description": "[1, 2]"}, "`description` is missing"),
        ("a", {"extra": "{unclosed"}, "the frontmatter is not YAML"),
    ],
)
def test_a_broken_rule_is_named_and_the_others_load(
    project: Path, folder: str, fields: dict[str, str], message: str
) -> None:
    write_skill(project / ".opencode/skills/good", description="x" * 1024)
    file = write_skill(project / ".opencode/skills" / folder, **fields)
    found = discover(project, NOTHING)
    assert list(found.skills) == ["good"]
    (problem,) = found.problems
    assert problem.file == file
    assert message in problem.message
    assert problem.level == "error"


def test_a_name_counts_whatever_the_folder_is_called(project: Path) -> None:
    file = write_skill(project / ".opencode/skills/My Folder", name="b")
    found = discover(project, NOTHING)
    assert found.skills["b"].location == file
    (problem,) = found.problems
    assert problem.level == "warning"
    assert str(problem) == f"{file}: it goes by its name 'b', though the folder is 'My Folder'"


def test_a_text_without_quotes_is_taken_as_it_was_meant(project: Path) -> None:
    file = write_skill(project / ".opencode/skills/a", description="Use this: when it's needed # now")
    write_skill(project / ".opencode/skills/b", license="`MIT` or: none")
    found = discover(project, NOTHING)
    assert found.skills["a"].description == "Use this: when it's needed # now"
    assert found.skills["b"].description == "How to b."
    first, second = found.problems
    assert str(first).startswith(f"{file}:3: description: taken as a text")
    assert (second.line, second.key, second.level) == (4, "license", "warning")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no frontmatter", "does not begin with a frontmatter"),
        (b"", "does not begin with a frontmatter"),
        (b"---\nname: a\n", "does not begin with a frontmatter"),
        (b"---\njust words\n---\n", "has no keys"),
        (b"---\nname: \xff\n---\n", "not UTF-8"),
        (b"---\nname: " + b"[" * 5000 + b"\n---\n", "the frontmatter"),
        (b"---\nname: a\ndescription: b\n---\n" + b"x" * 10 * MAX_BYTES, "it has 10.0 MB, the limit is 1 MB"),
    ],
)
def test_a_file_that_is_no_skill_is_named(project: Path, content: bytes, message: str) -> None:
    folder = project / ".opencode/skills/a"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_bytes(content)
    (problem,) = discover(project, NOTHING).problems
    assert message in problem.message


def test_a_pipe_in_place_of_the_file_is_not_waited_for(project: Path) -> None:
    (project / ".opencode/skills/a").mkdir(parents=True)
    os.mkfifo(project / ".opencode/skills/a/SKILL.md")
    (problem,) = discover(project, NOTHING).problems
    assert "no regular file" in problem.message


def test_links_lead_about_the_project_but_not_out_of_it_or_in_circles(project: Path, tmp_path: Path) -> None:
    skills = project / ".opencode/skills"
    write_skill(project / "shared/inside")
    secret = write_skill(tmp_path / "elsewhere/outside")
    skills.mkdir(parents=True)
    (skills / "inside").symlink_to(project / "shared/inside")
    (skills / "outside").symlink_to(secret.parent)
    (skills / "circle").symlink_to(skills)
    (skills / "file").mkdir()
    (skills / "file/SKILL.md").symlink_to(secret)
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to(tmp_path / "elsewhere")
    found = discover(project, NOTHING)
    assert list(found.skills) == ["inside"]
    assert {problem.file for problem in found.problems} == {
        *(skills / "outside", skills / "file/SKILL.md"),
        project / ".claude/skills",
    }


def test_unchanged_folders_are_not_read_again_and_changes_are_seen(project: Path) -> None:
    file = write_skill(project / ".opencode/skills/a")
    first = discover(project, NOTHING)
    with patch.object(skills, "read_skill", side_effect=AssertionError), patch.object(os, "listdir", None):
        assert discover(project, NOTHING) is first
    write_skill(file.parent, description="Another one.")
    assert discover(project, NOTHING).skills["a"].description == "Another one."
    write_skill(project / ".opencode/skills/b")
    assert sorted(discover(project, NOTHING).skills) == ["a", "b"]
    file.unlink()
    write_skill(project / ".claude/skills/c")
    assert sorted(discover(project, NOTHING).skills) == ["b", "c"]


def test_what_an_agents_rules_deny_is_not_listed(project: Path) -> None:
    for name in ("docs-a", "docs-b", "secret"):
        write_skill(project / ".opencode/skills" / name)
    found = discover(project, NOTHING)
    rules = from_config({"skill": {"*": "allow", "docs-*": "deny", "docs-b": "ask"}})
    assert [skill.name for skill in permitted(found, rules)] == ["docs-b", "secret"]


def test_the_body_is_read_when_it_is_needed_and_checked_again(project: Path) -> None:
    file = write_skill(project / ".opencode/skills/a", "First.\n\n---\n\nAfter a rule.")
    skill = discover(project, NOTHING).skills["a"]
    assert body(skill) == "First.\n\n---\n\nAfter a rule."
    file.write_bytes(b"\xef\xbb\xbf---\r\nname: a\r\ndescription: b\r\n---\r\nMarked.\r\n")
    assert body(skill) == "Marked."
    file.write_bytes(b"x" * (MAX_BYTES + 1))
    with pytest.raises(BadSkill, match="the limit is 1 MB"):
        body(skill)
    file.unlink()
    with pytest.raises(BadSkill, match="No such file"):
        body(skill)


def test_files_beside_a_skill_are_listed_up_to_a_limit(project: Path) -> None:
    folder = project / ".opencode/skills/a"
    write_skill(folder)
    skill = discover(project, NOTHING).skills["a"]
    assert files_beside(skill) == ([], False)
    (folder / "scripts").mkdir()
    (folder / ".hidden").mkdir()
    for name in ("b.md", "scripts/run.py", "a\nb.md", ".hidden/x"):
        (folder / name).touch()
    assert files_beside(skill) == (["a\\nb.md", "b.md", "scripts/run.py"], False)
    for number in range(60):
        (folder / f"{number}.md").touch()
    names, more = files_beside(skill)
    assert (len(names), more) == (50, True)
