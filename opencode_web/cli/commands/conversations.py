"""`opencode-web session`: list and delete, in the database itself; no server has to run."""

from __future__ import annotations

import argparse
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from opencode_web.cli.terminal import Stop, complain, plain, say, table
from sessions.core.db import in_db_sync
from sessions.core.models import Session
from sessions.core.store import projects
from sessions.core.store import sessions as session_store


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


def delete(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for an unknown session."""
    row = in_db_sync(session_store.get, arguments.session)
    if row is None:
        raise Stop(f"there is no session {arguments.session!r}")
    in_db_sync(session_store.delete, row.id)
    say(f"Deleted {row.id} ({plain(row.title)[:60]})")


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
    return datetime.fromtimestamp(row.time_updated / 1000).strftime("%Y-%m-%d %H:%M")
