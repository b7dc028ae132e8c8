"""Who follows the log by a cursor misses nothing that several processes write."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.postgres_server import PostgresServer

WRITERS, EACH = 4, 50
PREPARE = "import django; django.setup(); from opencode_web.site import database; database.prepare()"


def test_a_reader_sees_all_events_in_their_order(postgres: PostgresServer) -> None:
    postgres.make("rows")
    environ = {
        **os.environ,
        "OPENCODE_WEB_DATABASE": postgres.url("rows"),
        "DJANGO_SETTINGS_MODULE": "opencode_web.settings",
    }
    subprocess.run([sys.executable, "-c", PREPARE], env=environ, check=True)
    command = [sys.executable, "-m", "tests.sessions.core.store.writing"]
    with subprocess.Popen(
        [*command, "read"], env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as reader:
        writers = [subprocess.Popen([*command, str(EACH)], env=environ) for _ in range(WRITERS)]
        assert [writer.wait() for writer in writers] == [0] * WRITERS
        seen = [int(line) for line in reader.communicate()[0].splitlines()]
    assert len(seen) == WRITERS * EACH
    assert seen == sorted(seen)
