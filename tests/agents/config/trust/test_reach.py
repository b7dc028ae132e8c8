"""A link of a repository makes nothing be read that lies elsewhere, until a person trusts where it leads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.conf import LazySettings

from agents.agent import trust
from agents.agent.context.sources import discovery
from agents.config.configuration import load
from agents.config.trust.reach import Reach
from agents.toolkit.skills import BadSkill, body, discover, read_skill
from sessions.core import confined
from sessions.core.confined import LeadsOut, opened, read
from tests.hostile.links import INSTRUCTIONS, NEVER, TRUSTABLE

SECRET = "canary-of-another-file"
SKILL = f"---\nname: x\ndescription: {SECRET}\n---\n{SECRET}\n"


@pytest.fixture
def project(tmp_path: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository beside a folder with secrets; the environment of this process holds one as well."""
    out, path = tmp_path / "out", tmp_path / "project"
    for name in ("x", "agent", "skills/x"):
        (out / name).mkdir(parents=True)
    for name in ("x/SKILL.md", "skills/x/SKILL.md"):
        (out / name).write_text(SKILL)
    for name in ("text.md", "agent/text.md"):
        (out / name).write_text(SECRET)
    (out / "opencode.json").write_text(f'{{"username": "{SECRET}"}}')
    (out / "again.md").symlink_to("text.md")
    (path / "inner").mkdir(parents=True)
    (path / "sub").mkdir()
    subprocess.run(["git", "init", "-q", path], check=True)
    (tmp_path / "trust.json").write_text("{}")
    settings.TRUST_FILE = tmp_path / "trust.json"
    monkeypatch.setattr("sessions.core.paths.trust", lambda _: tmp_path / "trust.json")
    return path


def linked(project: Path, name: str, target: str) -> None:
    link = project / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target.format(out=project.parent / "out", pid=os.getpid()))


def told(project: Path) -> str:
    """Everything that the model may be shown of the project."""
    directory = project / "sub"
    config = load(directory).config
    documents = discovery.ambient(directory, project)
    for entry in INSTRUCTIONS:
        documents += discovery.named(entry, directory, project)
    skills = discover(directory, config).skills.values()
    texts = [*(one.text for one in documents), *(body(skill) for skill in skills)]
    return "\n".join([config.model_dump_json(), *texts])


def wanted(project: Path) -> list[str]:
    """Where the links lead that wait for trust."""
    entries = [*load(project / "sub").wants, *discovery.wants(project / "sub", project, INSTRUCTIONS)]
    return [wish.detail for want in entries if not want.trusted for wish in want.wishes]


@pytest.mark.parametrize(("name", "target"), TRUSTABLE)
def test_what_leads_out_waits_for_trust(project: Path, name: str, target: str) -> None:
    linked(project, name, target)
    assert SECRET not in told(project)
    asked = wanted(project)
    assert asked
    assert all(Path(real).is_relative_to(project.parent / "out") for real in asked)
    for want in [*load(project / "sub").wants, *discovery.wants(project / "sub", project, INSTRUCTIONS)]:
        trust._store().grant(project, want.digests)
    assert SECRET in told(project)
    trust.revoke(project)
    assert SECRET not in told(project)


@pytest.mark.parametrize(("name", "target"), NEVER)
def test_what_is_the_machines_or_nowhere_is_never_read(project: Path, name: str, target: str) -> None:
    linked(project, name, target)
    shown = told(project)
    assert SECRET not in shown
    assert "PATH=" not in shown
    assert not wanted(project)


def test_the_dialog_lists_a_link_and_its_trust_ends_when_it_leads_elsewhere(project: Path) -> None:
    linked(project, "AGENTS.md", "../out/text.md")
    (want,) = trust.wants(project)
    assert want.name == f"AGENTS.md -> {project.parent / 'out' / 'text.md'}"
    trust.trust(project, trust.fingerprint([want]))
    assert [one.text for one in discovery.ambient(project, project)] == [SECRET]
    (project / "AGENTS.md").unlink()
    linked(project, "AGENTS.md", "../out/x/SKILL.md")
    assert discovery.ambient(project, project) == []
    assert [want.trusted for want in trust.wants(project)] == [False]


def test_links_inside_of_the_project_are_followed(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "rules.md").write_text("the rules")
    linked(project, "AGENTS.md", "docs/rules.md")
    linked(project, "more", "docs")
    assert [one.text for one in discovery.ambient(project, project)] == ["the rules"]
    assert [one.text for one in discovery.named("more/*.md", project, project)] == ["the rules"]
    assert trust.wants(project) == []


@pytest.mark.parametrize("swapped", ["docs", "docs/text.md"])
def test_a_link_that_comes_between_the_look_and_the_reading(
    project: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    (project / "docs").mkdir()
    file = project / "docs" / "text.md"
    file.write_text("harmless")
    look = confined.real_path

    def look_and_swap(path: Path) -> Path:
        real = look(path)
        if not (project / "gone").exists():
            (project / swapped).rename(project / "gone")
            target = project.parent / "out"
            (project / swapped).symlink_to(target if swapped == "docs" else target / "text.md")
        return real

    monkeypatch.setattr(confined, "real_path", look_and_swap)
    with pytest.raises(OSError, match=r"symbolic link|directory|levels"):
        read(file, project, 100)


def test_a_skill_that_becomes_a_link_after_it_was_found(project: Path) -> None:
    file = project / ".opencode" / "skills" / "x" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(SKILL)
    skill, _ = read_skill(file, project)
    file.unlink()
    file.symlink_to(project.parent / "out" / "x" / "SKILL.md")
    with pytest.raises(BadSkill, match="leads out of the project"):
        body(skill)


def test_only_regular_files_are_opened(project: Path) -> None:
    os.mkfifo(project / "pipe")
    for path in (project / "pipe", project / "sub"):
        with pytest.raises(OSError, match="no regular file"):
            opened(path, project)
    for name in ("/proc/self/environ", "/dev/null", "/sys/kernel/notes"):
        with pytest.raises(LeadsOut):
            opened(Path(name), None)
    assert not Reach(project).reaches(Path("/proc/self/environ"))
