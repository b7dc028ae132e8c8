"""`opencode-web session`: list, search, move and delete, in the database itself; no server has to run."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from opencode_web.cli.terminal import Stop, complain, plain, say, table
from sessions.changes.worktrees import moving
from sessions.changes.worktrees.making import CannotFork
from sessions.changes.worktrees.moving import Which
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import Session
from sessions.core.models.ledger import shown
from sessions.core.store import index, projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.search import MessageMatch
from sessions.search.matches import matches
from sessions.search.query import NAMES, parse

_AT_ONCE = 200
"""Messages that are put into the index in one transaction."""
_LONGEST = 120
"""Characters of a text in the table."""


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """The topmost sessions of the folder's project."""
    rows = in_db_sync(_sessions, directory, arguments.max_count)
    if arguments.format == "json":
        say(json.dumps([_entry(row) for row in rows], indent=2, ensure_ascii=False))
    elif not rows:
        complain(f"{directory} has no sessions yet")
    else:
        table(("Session ID", "Title", "Updated"), [(row.id, row.title[:60], _time(row)) for row in rows])


def _sessions(directory: Path, count: int) -> list[Session]:
    project = projects.project_of(directory, look=True)
    return session_store.listing(project, roots=True, archived=True, limit=count)


def search(arguments: argparse.Namespace, directory: Path) -> None:
    """What was said in the folder's project or in all; what is not in the index yet is put in first. Raise
    Stop where nothing can be looked for."""
    query = parse(" ".join(_piece(piece) for piece in arguments.query), datetime.now().astimezone())
    here = in_db_sync(lambda: projects.project_of(directory, look=True).id)
    if not arguments.all and not query.project:
        query = replace(query, project="this")
    for problem in query.problems:
        complain(plain(problem))
    _catch_up()
    found = in_db_sync(matches, query, here=here, limit=arguments.max_count)
    for problem in found.problems[len(query.problems) :]:
        raise Stop(plain(problem))
    if arguments.format == "json":
        say(json.dumps(found.wire(), indent=2, ensure_ascii=False))
    elif not found.matches:
        complain("nothing was found")
    else:
        table(("Session ID", "Time", "In", "Text"), [_row(match) for match in found.matches])


def _piece(typed: str) -> str:
    """An argument that the shell kept together is a phrase, or the value of a filter."""
    name, colon, value = typed.partition(":")
    if not any(map(str.isspace, typed)) or '"' in typed:
        return typed
    return f'{name}:"{value}"' if colon and name in NAMES else f'"{typed}"'


def _catch_up() -> None:
    in_db_sync(index.prepare)
    if in_db_sync(index.progress):
        complain("the index of conversations is brought up to date")
    while in_db_sync(index.catch_up, _AT_ONCE):
        progress = in_db_sync(index.progress)
        if progress and sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{progress.done:,} of {progress.total:,} messages\r")


def _row(match: MessageMatch) -> tuple[str, str, str, str]:
    text = "".join(piece.text for piece in match.snippet)
    return match.session_id, _moment(match.time), match.kind, plain(text)[:_LONGEST]


def delete(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for an unknown session."""
    row = in_db_sync(session_store.get, arguments.session)
    if row is None:
        raise Stop(f"there is no session {arguments.session!r}")
    in_db_sync(session_store.delete, row.id)
    say(f"Deleted {row.id} ({plain(row.title)[:60]})")


def move(arguments: argparse.Namespace, directory: Path) -> None:
    """What goes along is said first. Raise Stop for an unknown session, and where it cannot be moved."""
    asyncio.run(_move(arguments))


async def _move(arguments: argparse.Namespace) -> None:
    row = await in_db(session_store.get, arguments.session)
    if row is None:
        raise Stop(f"there is no session {arguments.session!r}")
    now = await moving.preview(row)
    if now.found is None:
        raise Stop(plain(now.refusal))
    for file in now.found.files:
        if file.own or not arguments.own:
            whose = "own" if file.own else "others"
            say(f"{'staged' if file.staged else '':8}{whose:8}{plain(file.name)}")
    for path in now.found.left_out:
        complain(f"stays, and cannot be undone in the worktree: {plain(shown(path))}")
    if arguments.dry_run:
        return
    which: Which = "own" if arguments.own else "all"
    try:
        moved = await moving.move(row, name=arguments.worktree, which=which, keep=arguments.keep)
    except CannotFork as problem:
        raise Stop(plain(str(problem))) from problem
    for name, why in moved.left:
        complain(f"went along, and is in the original folder still: {plain(name)}: {plain(why)}")
    say(f"Moved {row.id} ({plain(row.title)[:60]}) to {moved.session.directory}")


def _entry(row: Session) -> dict[str, Any]:
    return {
        "id": row.id,
        "title": row.title,
        "updated": row.time_updated,
        "created": row.time_created,
        "projectId": row.project_id,
        "directory": row.directory,
    }


def _time(row: Session) -> str:
    return _moment(row.time_updated)


def _moment(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%Y-%m-%d %H:%M")
