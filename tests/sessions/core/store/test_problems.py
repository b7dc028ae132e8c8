"""Rows of problems: one a content and server, bounded, pruned, told of when they are news."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import Event, FileProblems, Project
from sessions.core.store import problems, projects
from sessions.core.store.problems import DAYS, LONGEST, MOST, Finding, Problem

pytestmark = pytest.mark.django_db

DAY = 24 * 3600 * 1000


@pytest.fixture
def project(tmp_path: Path) -> Project:
    folder = tmp_path / "project"
    (folder / "inner").mkdir(parents=True)
    return projects.open_project(folder)


def problem(line: int = 0, message: str = "Wrong.", severity: int = 1, **more: str) -> Problem:
    return Problem(line, 2, line, 5, severity, message, **more)


def finding(
    project: Project, content: str, *found: Problem, path: str = "a.py", server: str = "ruff"
) -> Finding:
    return Finding(project.id, path, content, server, found)


def told() -> list[dict[str, str]]:
    rows = Event.objects.filter(type="lsp.client.diagnostics").order_by("id")
    return [row.reference for row in rows]


def test_a_row_holds_what_was_said_last_of_a_content_by_each_server(project: Project) -> None:
    one = problem(code="F821", source="Ruff")
    problems.put([finding(project, "c1", one, problem(4)), finding(project, "c1", server="pyright")])
    problems.put([finding(project, "c1", one), finding(project, "c2", problem(7))])
    found = problems.of_contents(project.id, [("a.py", "c1"), ("a.py", "c3"), ("b.py", "c2")])
    assert found == {("a.py", "c1"): {"ruff": (replace(one, server="ruff"),), "pyright": ()}}
    assert FileProblems.objects.count() == 3
    assert problems.suspects(project.id, 10) == {("a.py", "c1"), ("a.py", "c2")}
    assert problems.suspects("other", 10) == set()


def test_an_event_tells_when_what_is_known_of_a_file_is_another(project: Project) -> None:
    at = {"serverID": "ruff", "path": f"{project.worktree}/a.py"}
    problems.put([finding(project, "c1")])
    assert told() == [], "nothing is wrong, and nothing was before"
    problems.put([finding(project, "c1", problem())])
    problems.put([finding(project, "c1", problem())])
    assert told() == [at]
    problems.put([finding(project, "c2", problem())])
    assert told() == [at, at], "the same problem of another content: the old one is no longer the file's"
    problems.put([finding(project, "c3"), finding(project, "c4")])
    assert told() == [at, at, at]


@pytest.mark.django_db(transaction=True)
async def test_the_event_goes_to_everybody_of_the_project(project: Project) -> None:
    async with bus.subscribe(project=project.id) as mailbox:
        await in_db(problems.put, [finding(project, "c1", problem())])
        (event,) = await mailbox.take()
    assert (event.type, event.properties["serverID"], event.session_id) == (
        "lsp.client.diagnostics",
        "ruff",
        "",
    )


def test_a_thousand_problems_are_bounded_and_the_worst_stay(project: Project) -> None:
    many = [problem(line, severity=2) for line in range(1000)] + [problem(5000, "x" * 100_000)]
    problems.put([finding(project, "c1", *many)])
    ((kept,),) = (found.values() for found in problems.of_contents(project.id, [("a.py", "c1")]).values())
    assert len(kept) == MOST
    assert [one.line for one in kept] == [*range(MOST - 1), 5000], "in the order of the file"
    assert len(kept[-1].message) == LONGEST


def test_texts_that_no_database_takes_are_mended(project: Project) -> None:
    problems.put([finding(project, "c1", problem(message="a\0b\udcff", code="\0", source="\ud800"))])
    ((kept,),) = problems.of_contents(project.id, [("a.py", "c1")])["a.py", "c1"].values()
    assert (kept.message, kept.code, kept.source) == ("a\u2400b?", "\u2400", "?")


def test_paths_that_are_no_text(project: Project) -> None:
    problems.put([finding(project, "c1", problem(), path="odd \udcff.py")])
    assert problems.suspects(project.id, 10) == {("odd \udcff.py", "c1")}
    assert ("odd \udcff.py", "c1") in problems.of_contents(project.id, [("odd \udcff.py", "c1")])
    assert told()[0]["path"] == f"{project.worktree}/odd \ufffd.py"


def test_old_contents_go(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problems, "CONTENTS", 3)
    for number in range(5):
        problems.put([finding(project, f"c{number}", problem())])
    problems.put([finding(project, "other", problem(), path="b.py")])
    kept = FileProblems.objects.order_by("id").values_list("content", flat=True)
    assert list(kept) == ["c2", "c3", "c4", "other"]

    FileProblems.objects.filter(content="c3").update(time_updated=1)
    FileProblems.objects.filter(content="c4").update(time_updated=now() - (DAYS - 1) * DAY)
    problems.prune()
    assert list(kept.all()) == ["c2", "c4", "other"]
    monkeypatch.setattr(problems, "ROWS", 1)
    problems.prune()
    assert FileProblems.objects.count() == 1


def test_a_file_is_in_every_project_around_it(project: Project) -> None:
    inner = projects.open_project(Path(project.worktree) / "inner")
    file = Path(inner.worktree) / "x" / "a.py"
    assert set(problems.holders(file)) == {(project.id, "inner/x/a.py"), (inner.id, "x/a.py")}
    assert problems.holders(Path("/nowhere/a.py")) == []
    odd = Path(inner.worktree) / "\udcff" / "a.py"
    assert (inner.id, "\udcff/a.py") in problems.holders(odd)


def test_what_a_server_takes_back_stands_no_longer_and_stays_for_diffs(project: Project) -> None:
    problems.put([finding(project, "c1", problem()), finding(project, "c1", problem(), server="other")])
    problems.withdraw(project.id, "a.py", "ruff")
    problems.withdraw(project.id, "b.py", "ruff")
    place = ("a.py", "c1")
    assert set(problems.of_contents(project.id, [place])[place]) == {"ruff", "other"}
    assert set(problems.of_contents(project.id, [place], standing=True)[place]) == {"other"}
    problems.withdraw(project.id, "a.py", "other")
    assert problems.suspects(project.id, 10) == set()
    assert [one["serverID"] for one in told()] == ["ruff", "other", "ruff", "other"]
    problems.put([finding(project, "c1", problem())])
    assert problems.suspects(project.id, 10) == {place}
    assert len(told()) == 5, "it says so again"
