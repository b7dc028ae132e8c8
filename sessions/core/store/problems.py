"""What language servers say of contents of files (`FileProblems`): a row for each content and each server.

A row is what the server said last of exactly this content, so it holds for a diff in which the content is one
side, and for the file as long as it is what the file holds. An empty row says that the server found nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Max

from sessions.core.ids import now
from sessions.core.models import FileProblems, Project
from sessions.core.models.ledger import shown
from sessions.core.text import wellformed

from . import events
from .rows import worktree_of

T = TypeVar("T")

ERROR, WARNING = 1, 2
"""Severities as the Language Server Protocol counts them; 3 is information, 4 a hint."""
MOST = 200
"""Problems of a file that are kept, the worst first."""
LONGEST = 2000
"""Characters of a message; of what names the rule and who found it, a tenth."""
CONTENTS = 100
"""Contents of one file that are remembered for each server: about the edits of a long session."""
ROWS = 50_000
DAYS = 30
_PIECE = 500  # values of one query


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Lines and characters (UTF-16 code units) count from 0. `code` names the rule, `source` who found it in
    the server's words, `server` is the server's id."""

    line: int
    character: int
    end_line: int
    end_character: int
    severity: int
    message: str
    code: str = ""
    source: str = ""
    server: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """All that a server said of a content; `content` is its address in the object store (git's blob id)."""

    project_id: str
    path: str
    content: str
    server: str
    problems: tuple[Problem, ...]


Known = Mapping[str, tuple[Problem, ...]]
"""By server, the problems of one content."""
Place = tuple[str, str]
"""The path of a file and the address of a content of it."""


def put(findings: Iterable[Finding]) -> None:
    """Keep what servers said, each in place of what it said of the same content before. Where that is another
    than what was known of the file, an event tells of it."""
    with transaction.atomic():
        for finding in findings:
            _put(finding)


def withdraw(project_id: str, path: str, server: str) -> None:
    """A server says no longer what it said of a file, without having looked at it: because of another file,
    or because it was started anew. What it said of contents stays, for diffs."""
    with transaction.atomic():
        rows = FileProblems.objects.filter(project_id=project_id, path=path, server=server, standing=True)
        if rows.exclude(problems=[]).update(standing=False):
            _tell(project_id, path, server)


def of_contents(
    project_id: str, places: Collection[Place], *, standing: bool = False
) -> dict[Place, dict[str, tuple[Problem, ...]]]:
    """What is known of some contents, or only what stands; those that no server has seen are left out."""
    wanted = set(places)
    found: dict[Place, dict[str, tuple[Problem, ...]]] = {}
    for paths in _pieces({path for path, _ in wanted}):
        piece = set(paths)
        contents = {content for path, content in wanted if path in piece}
        rows = FileProblems.objects.filter(project_id=project_id, path__in=paths, content__in=contents)
        rows = rows.filter(standing=True) if standing else rows
        for path, content, server, kept in rows.values_list("path", "content", "server", "problems"):
            if (path, content) in wanted:
                found.setdefault((path, content), {})[server] = _read(kept, server)
    return found


def holders(file: Path) -> list[tuple[str, str]]:
    """The projects that a file is in, one in another, with its path in each."""
    folders = [str(folder) for folder in file.parents if wellformed(str(folder)) == str(folder)]
    rows = Project.objects.filter(worktree__in=folders).values_list("id", "worktree")
    return [(project_id, str(file.relative_to(worktree))) for project_id, worktree in rows]


def suspects(project_id: str, limit: int) -> set[Place]:
    """Contents with problems that stand, of the files that were looked at last. Whether a file still holds
    one of them only the file can say."""
    rows = FileProblems.objects.filter(project_id=project_id, standing=True).exclude(problems=[])
    return set(rows.order_by("-time_updated").values_list("path", "content")[:limit])


def troubled(project_id: str, limit: int) -> list[str]:
    """The paths of files that had problems in some content, those looked at last first."""
    rows = FileProblems.objects.filter(project_id=project_id).exclude(problems=[])
    paths = rows.values("path").annotate(last=Max("time_updated")).order_by("-last", "path")
    return [row["path"] for row in paths[:limit]]


def prune() -> None:
    """Drop what nobody has asked a server about for long, and the oldest of too much."""
    FileProblems.objects.filter(time_updated__lt=now() - DAYS * 24 * 3600 * 1000).delete()
    newest = FileProblems.objects.order_by("-time_updated", "-id")
    _drop(newest.values_list("id", flat=True)[ROWS:])


def _put(finding: Finding) -> None:
    kept = [_written(problem) for problem in _bounded(finding.problems)]
    own = FileProblems.objects.filter(
        project_id=finding.project_id, path=finding.path, server=finding.server
    ).order_by("-time_updated", "-id")
    last = own.first()
    values = {"problems": kept, "standing": True, "time_updated": now()}
    _, fresh = own.update_or_create(
        project_id=finding.project_id,
        path=finding.path,
        server=finding.server,
        content=finding.content,
        defaults=values,
    )
    if fresh:
        _drop(own.values_list("id", flat=True)[CONTENTS:])
    known, of = (last.problems if last.standing else [], last.content) if last else ([], finding.content)
    if kept != known or (kept and of != finding.content):
        _tell(finding.project_id, finding.path, finding.server)


def _tell(project_id: str, path: str, server: str) -> None:
    properties = {"serverID": server, "path": f"{worktree_of(project_id)}/{shown(path)}"}
    events.record("lsp.client.diagnostics", properties, project=project_id)


def _pieces(values: Iterable[T]) -> Iterator[list[T]]:
    """As many values at once as a query takes."""
    listed = list(values)
    return (listed[at : at + _PIECE] for at in range(0, len(listed), _PIECE))


def _drop(ids: Iterable[int]) -> None:
    for some in _pieces(ids):
        FileProblems.objects.filter(id__in=some).delete()


def _bounded(problems: Sequence[Problem]) -> list[Problem]:
    """The worst, in the order of the file."""
    worst = sorted(problems, key=lambda problem: (problem.severity, problem))[:MOST]
    return sorted(_short(problem) for problem in worst)


def _short(problem: Problem) -> Problem:
    """Texts that any database takes, and none without bound."""
    return replace(
        problem,
        message=_text(problem.message, LONGEST),
        code=_text(problem.code, LONGEST // 10),
        source=_text(problem.source, LONGEST // 10),
    )


def _text(text: str, limit: int) -> str:
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return wellformed(cut).replace("\0", "\N{SYMBOL FOR NULL}")


def _written(problem: Problem) -> dict[str, Any]:
    values = asdict(problem)
    del values["server"]
    return {name: value for name, value in values.items() if value != ""}


def _read(kept: Sequence[Mapping[str, Any]], server: str) -> tuple[Problem, ...]:
    known = {field.name for field in fields(Problem)}
    rows = ({name: value for name, value in row.items() if name in known} for row in kept)
    return tuple(Problem(**row, server=server) for row in rows)
