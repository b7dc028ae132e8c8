"""Skills at an address: fetched whole or not at all, kept, fetched again when the index is another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.config.schema import Config
from agents.toolkit import remote_skills
from agents.toolkit.remote_skills import RemoteSkills, folder_of
from agents.toolkit.skills import discover, files_beside
from tests.skill_site import SKILL, Site, skill_site


@pytest.fixture
def site() -> Iterator[Site]:
    with skill_site() as made:
        yield made


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


async def fetch(url: str) -> list[str]:
    """As a process does that was just started."""
    return await RemoteSkills().fetch([url])


async def test_they_are_there_with_their_files(site: Site, project: Path) -> None:
    config = Config.model_validate({"skills": {"urls": [site.url]}})
    assert discover(project, config).skills == {}
    assert await fetch(site.url) == []
    found = discover(project, config)
    skill = found.skills["greet"]
    assert (skill.description, found.problems) == ("Greets.", [])
    assert files_beside(skill)[0] == ["scripts/a b.sh"]
    assert (skill.folder / "scripts/a b.sh").read_text() == "echo hello\n"
    assert [path.name for path in folder_of(site.url).parent.iterdir()] == [folder_of(site.url).name]
    assert discover(project, Config()).skills == {}


async def test_they_are_asked_for_again_and_fetched_when_the_index_is_another(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    addresses = RemoteSkills()
    for _ in range(2):
        await addresses.fetch([site.url])
    assert len(site.asked) == 3
    monkeypatch.setattr(remote_skills, "FRESH_SECONDS", 0)
    await addresses.fetch([site.url])
    await addresses._known[site.url].fetching
    assert site.asked[3:] == ["/all/index.json"]
    site.offers("SKILL.md", version="2")
    await addresses.fetch([site.url])
    await addresses._known[site.url].fetching
    assert not (folder_of(site.url) / "greet/scripts").exists()
    assert (folder_of(site.url) / "greet/SKILL.md").read_text() == SKILL


async def test_what_is_there_stays_while_the_address_fails(site: Site) -> None:
    await fetch(site.url)
    site.offers("SKILL.md", "gone.md")
    addresses = RemoteSkills()
    await addresses.fetch([site.url])
    problem = await addresses._known[site.url].fetching
    assert problem == f"skills.urls: {site.url}: {site.url}/greet/gone.md answers 404"
    assert (folder_of(site.url) / "greet/scripts").is_dir()


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (["SKILL.md", "../../x"], "a file of no skill"),
        (["SKILL.md", "/etc/passwd"], "a file of no skill"),
        (["SKILL.md", "a\\b"], "a file of no skill"),
        (["SKILL.md", "a\u001b"], "a file of no skill"),
        (["SKILL.md"] * 1001, "more than 1000 files"),
    ],
)
async def test_an_index_that_leads_elsewhere_gives_nothing(site: Site, files: list[str], reason: str) -> None:
    site.offers(*files)
    (problem,) = await fetch(site.url)
    assert reason in problem
    assert not folder_of(site.url).exists()


async def test_what_is_too_large_or_no_index_gives_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/all/greet/scripts/a%20b.sh"] = "x" * 400
    for most, reason in ((420, "MB together"), (300, "more than")):
        monkeypatch.setattr(remote_skills, "MAX_BODY", most)
        assert reason in (await fetch(site.url))[0]
    site.pages["/all/index.json"] = "[]"
    assert "not one of skills" in (await fetch(site.url))[0]
    assert not folder_of(site.url).exists()


async def test_an_address_that_others_can_change_is_refused() -> None:
    (problem,) = await fetch("http://skills.example/all")
    assert "only https" in problem
