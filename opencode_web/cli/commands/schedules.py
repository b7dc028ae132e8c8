"""`opencode-web schedule`: list those of a folder's project, run one now, pause it, have it go on."""

from __future__ import annotations

import argparse
import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from agents.agent.schedules import acts
from opencode_web.cli import link
from opencode_web.cli.terminal import Stop, complain, plain, say, table
from sessions.core import holding, paths
from sessions.core.db import in_db
from sessions.core.models import Occurrence, Project, Schedule
from sessions.core.store import projects, schedules
from sessions.core.store.schedules import ScheduleRefused


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """With the files of the project, which are read anew."""
    rows = asyncio.run(_rows(directory))
    if arguments.format == "json":
        say(json.dumps([_entry(*row) for row in rows], indent=2, ensure_ascii=False))
    elif not rows:
        complain(f"{directory} has no schedules yet")
    else:
        table(("Schedule ID", "Name", "Next", "Last"), [_line(*row) for row in rows])


def _line(row: Schedule, last: Occurrence | None) -> tuple[str, str, str, str]:
    return row.id, plain(row.name)[:60], _stands(row), last.state if last else ""


def run(arguments: argparse.Namespace, directory: Path) -> None:
    _act("run", arguments.schedule, directory)


def pause(arguments: argparse.Namespace, directory: Path) -> None:
    _act("pause", arguments.schedule, directory)


def resume(arguments: argparse.Namespace, directory: Path) -> None:
    _act("resume", arguments.schedule, directory)


def _act(act: str, name: str, directory: Path) -> None:
    """By the server that runs, so that it hears of it; else in the database, for the next one. Raise Stop for
    what is not there, or refused."""
    found = [row for row, _ in asyncio.run(_rows(directory)) if name in (row.id, row.name)]
    if len(found) != 1:
        raise Stop(f"there is {'no' if not found else 'more than one'} schedule {name!r} here")
    (row,) = found
    try:
        if url := holding.server(paths.data_directory()):
            link.post(url, f"/schedule/{row.id}/{act}")
        else:
            asyncio.run(_done(act, row))
    except ScheduleRefused as problem:
        raise Stop(plain(str(problem))) from problem
    later = "" if url or act != "run" else " when a server runs"
    words = {"run": f"Begins{later}", "pause": "Paused", "resume": "Goes on"}
    say(f"{words[act]}: {plain(row.name)}")


async def _done(act: str, row: Schedule) -> None:
    await acts.ACTS[act](row)


async def _rows(directory: Path) -> list[tuple[Schedule, Occurrence | None]]:
    project = await in_db(projects.project_of, directory)
    await acts.read_files(project)
    return await in_db(_with_last, project)


def _with_last(project: Project) -> list[tuple[Schedule, Occurrence | None]]:
    rows = schedules.listing([project.id])
    last = schedules.newest([row.id for row in rows])
    return [(row, last.get(row.id)) for row in rows]


def _stands(row: Schedule) -> str:
    if row.problem:
        return plain(row.problem)
    if row.paused:
        return "paused"
    return _moment(row.due) if row.due is not None else row.kind


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%Y-%m-%d %H:%M")


def _entry(row: Schedule, last: Occurrence | None) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "file": row.file,
        "problem": row.problem,
        "when": {"kind": row.kind, "rule": row.rule, "timezone": row.zone},
        "paused": row.paused,
        "due": row.due,
        "last": {"state": last.state, "reason": last.reason, "sessionID": last.session_id} if last else None,
    }
