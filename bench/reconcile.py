"""Milliseconds of each look at an unchanged System Context, as JSON, in a process on a home of its own."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from django.core.management import call_command

from agents.agent.context.epochs import admit
from agents.config.configuration import load
from agents.toolkit.catalog import default_model
from agents.toolkit.definitions import choose
from agents.toolkit.turn import Turn
from sessions.core.db import in_db
from sessions.core.store import projects
from sessions.core.store import sessions as session_store


async def samples(folder: Path, count: int) -> list[float]:
    """From a safe boundary until it is known that nothing has changed, epoch read from the database."""
    project = await in_db(projects.open_project, folder)
    made = await in_db(session_store.create, project, str(folder))
    session = await in_db(session_store.get, made.id)
    assert session is not None
    config = load(folder).config
    model = await default_model(folder, None)
    turn = Turn(session, folder, folder, config, choose(config, "build"), model, ())
    baseline = await admit(turn)
    taken = []
    for _ in range(count):
        began = time.perf_counter()
        found = await admit(turn)
        taken.append((time.perf_counter() - began) * 1000)
        if found != baseline:
            raise ValueError("the context has changed")
    return taken


def main() -> None:
    """Arguments: the folder, how many looks."""
    call_command("migrate", verbosity=0)
    print(json.dumps(asyncio.run(samples(Path(sys.argv[1]), int(sys.argv[2])))))
