"""What it costs to have a prompt on the disk before it is acknowledged: ours alone."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from pathlib import Path

from bench.lab import Lab
from bench.stats import median, percentile
from bench.targets import OURS

PROMPT = "x" * 2000
ROWS = 3
"""A prompt is a row of the inbox, an event, and the session it came to."""


async def measure(lab: Lab) -> dict[str, float]:
    if lab.target is not OURS:
        return {}
    added = await asyncio.to_thread(_added, lab.folder / "sync.sqlite3", lab.count(200))
    return {
        "added to a prompt by its sync p50 (ms)": median(added),
        "added to a prompt by its sync p95 (ms)": percentile(added, 95),
    }


def _added(file: Path, rounds: int) -> list[float]:
    """By how much a commit that is synced takes longer than the one before it, which is not."""
    added = []
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT)")
        for _ in range(rounds):
            quick = _commit(db, "NORMAL")
            added.append(max(0.0, _commit(db, "FULL") - quick))
    return added


def _commit(db: sqlite3.Connection, synchronous: str) -> float:
    began = time.perf_counter()
    db.execute(f"PRAGMA synchronous={synchronous}")
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO rows (text) VALUES (?)", [(PROMPT,)] * ROWS)
    db.execute("COMMIT")
    return (time.perf_counter() - began) * 1000
