"""What was acknowledged outlives a power cut: the tail that the disk was never told to keep is cut off."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.server import ROOT

WRITE = re.compile(r"pwrite64\(\d+<(?P<path>[^>]*)>, .*, (?P<size>\d+), (?P<at>\d+)\) += \d+$")
SYNC = re.compile(r"f(?:data)?sync\(\d+<(?P<path>[^>]*)>\) += 0$")
SAID = re.compile(r'write\(1<.*>, "(?P<table>\w+) (?P<id>\w+)\\n", \d+\)')
ANSWERED = {"permissionrequest": "state = 'always'", "questionrequest": "state = 'answered'"}
SETTLED = {"session": "json_extract(status, '$.type') = 'idle'"}


@pytest.mark.proc
def test_what_was_acknowledged_is_there(tmp_path: Path, strace_path: str) -> None:
    log, data = tmp_path / "log", tmp_path / "data"
    (tmp_path / "project").mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(data),
        "PYTHONPATH": str(ROOT),
    }
    calls = "trace=pwrite64,write,fsync,fdatasync"
    command = [strace_path, "-f", "-y", "-s", "64", "-e", calls, "-o", str(log)]
    run = subprocess.run(
        [*command, sys.executable, "-m", "tests.sessions.core.store.acknowledging"],
        cwd=tmp_path / "project", env=environ, capture_output=True, text=True, check=False,
    )  # fmt: skip
    wal = data / "opencode-web" / "db.sqlite3-wal"
    acknowledged, synced = synced_at_acknowledgement(log.read_text(), wal)
    assert len(acknowledged) == 13, run.stderr
    with wal.open("r+b") as file:
        file.truncate(synced)
    with closing(sqlite3.connect(wal.with_name("db.sqlite3"))) as db:
        for table, id in acknowledged:
            also = (ANSWERED | SETTLED).get(table, "1")
            query = f"SELECT count(*) FROM opencode_sessions_{table} WHERE id = ? AND {also}"  # noqa: S608
            assert db.execute(query, (id,)).fetchone() == (1,), (table, id)


def synced_at_acknowledgement(log: str, wal: Path) -> tuple[list[tuple[str, str]], int]:
    """What was acknowledged, and how much of the write-ahead log the disk was told to keep before the last
    acknowledgement."""
    acknowledged: list[tuple[str, str]] = []
    written = synced = at_last = 0
    for line in log.splitlines():
        if (write := WRITE.search(line)) and write["path"] == str(wal):
            if write["at"] == "0":  # the log begins anew after a checkpoint
                written = synced = 0
            written = max(written, int(write["at"]) + int(write["size"]))
        elif (sync := SYNC.search(line)) and sync["path"] == str(wal):
            synced = written
        elif said := SAID.search(line):
            acknowledged.append((said["table"], said["id"]))
            at_last = synced
    return acknowledged, at_last
