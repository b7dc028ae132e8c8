"""What the backend keeps as it is with SQLite, and a server that goes away."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, OperationalError, connections, models, transaction
from django.db.utils import ConnectionHandler

from opencode_web import databases
from tests.postgres_server import PostgresServer

ALIAS = "another"


@pytest.fixture
def connection(postgres: PostgresServer, django_db_blocker: Any, tmp_path: Path) -> Iterator[Any]:
    """One to an empty database with a table of numbers."""
    postgres.make(ALIAS)
    configured = databases.configured({databases.VARIABLE: postgres.url(ALIAS)}, tmp_path)
    connections.settings[ALIAS] = ConnectionHandler({"default": configured}).settings["default"]
    with django_db_blocker.unblock():
        made: Any = connections[ALIAS]
        run(made, "CREATE TABLE numbers (number bigint)")
        yield made
        made.close()
    del connections[ALIAS], connections.settings[ALIAS]


def run(connection: Any, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall()) if cursor.description else []


def numbers(connection: Any) -> list[int]:
    return [number for (number,) in run(connection, "SELECT number FROM numbers ORDER BY number")]


def end(connection: Any) -> None:
    """As a restart of the server does, in the middle of what is done."""
    run(connection, "SELECT pg_terminate_backend(pg_backend_pid())")


def test_what_it_cannot_keep_of_a_text_is_replaced(connection: Any) -> None:
    assert run(connection, "SELECT %s, %s = ANY(%s)", "a\0b", "\0", ["\0"]) == [("a\ufffdb", True)]
    given = {
        "a\0": ["\0\0", "\\u0000", "\\\0", "\ud83d\ude00", "\U0001f600", "\ud83d", "x\udc00y", 1.5, None]
    }
    (kept,) = run(connection, "SELECT %s::jsonb", connection.ops.adapt_json_value(given, None))[0]
    assert json.loads(kept) == {
        "a\ufffd": [
            "\ufffd" * 2,
            "\\u0000",
            "\\\ufffd",
            "\U0001f600",
            "\U0001f600",
            "\ufffd",
            "x\ufffdy",
            1.5,
            None,
        ]
    }


def test_texts_have_no_length_and_the_order_of_their_bytes(connection: Any) -> None:
    class Text(models.Model):
        id = models.CharField(primary_key=True, max_length=3)
        other = models.ForeignKey("self", models.CASCADE, null=True)
        long = models.TextField(default="")

        class Meta:
            app_label = "texts"
            managed = False

    with connection.schema_editor() as editor:
        editor.create_model(Text)
    ids = ["_d", "B", "a", "c" * 100, "~"]
    for id in ids:
        run(connection, "INSERT INTO texts_text (id, long) VALUES (%s, '')", id)
    assert [id for (id,) in run(connection, "SELECT id FROM texts_text ORDER BY id")] == sorted(ids)
    plain = run(connection, "SELECT attname FROM pg_attribute WHERE attrelid = 'texts_text'::regclass "
                "AND attnum > 0 AND attcollation <> 'pg_catalog.\"C\"'::regcollation")  # fmt: skip
    assert plain == []


def test_a_connection_that_was_ended_meanwhile_is_replaced(connection: Any, postgres: PostgresServer) -> None:
    postgres.end_connections(ALIAS)
    assert connection.steadily(lambda: numbers(connection)) == []


def test_what_was_cut_off_before_it_was_written_is_done_again(connection: Any) -> None:
    tries = []

    def work() -> str:
        tries.append(1)
        with transaction.atomic(using=ALIAS):
            run(connection, "INSERT INTO numbers VALUES (1)")
            if len(tries) == 1:
                end(connection)
        return "done"

    assert connection.steadily(work) == "done"
    assert (len(tries), numbers(connection)) == (2, [1])


def test_the_other_connection_of_a_thread_is_replaced_too(connection: Any) -> None:
    connections.settings[f"{ALIAS}-two"] = connections.settings[ALIAS]
    other: Any = connections[f"{ALIAS}-two"]
    try:
        assert connection.steadily(lambda: numbers(other)) == []
        tries = []

        def work() -> list[int]:
            tries.append(1)
            if len(tries) == 1:
                end(other)
            return numbers(other)

        assert connection.steadily(work) == []
        assert len(tries) == 2
    finally:
        other.close()
        del connections[f"{ALIAS}-two"], connections.settings[f"{ALIAS}-two"]


def test_what_was_written_is_not_done_again(connection: Any) -> None:
    def work() -> None:
        run(connection, "INSERT INTO numbers VALUES (1)")
        end(connection)

    with pytest.raises(OperationalError):
        connection.steadily(work)
    assert connection.steadily(lambda: numbers(connection)) == [1]


def test_a_server_that_starts_anew_is_waited_for(connection: Any, postgres: PostgresServer) -> None:
    postgres.stop()
    starting = threading.Thread(target=postgres.start)
    starting.start()
    assert connection.steadily(lambda: numbers(connection)) == []
    starting.join()


def test_one_that_stays_away_is_waited_for_once(
    connection: Any, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def work() -> list[int]:
        tries.append(1)
        return numbers(connection)

    monkeypatch.setattr("sessions.core.postgresql.base.PATIENCE", 0.5)
    postgres.stop()
    with pytest.raises(OperationalError):
        connection.steadily(work)
    assert len(tries) > 1
    tries.clear()
    with pytest.raises(OperationalError):
        connection.steadily(work)
    assert len(tries) == 1
    postgres.start()
    assert connection.steadily(work) == []


def test_other_errors_come_through_at_once(connection: Any) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        run(connection, "SELECT nonsense")

    with pytest.raises(DatabaseError, match="nonsense"):
        connection.steadily(work)
    assert len(tries) == 1
    assert connection.steadily(lambda: numbers(connection)) == []


def test_there_is_one_writer_at_a_time(
    connection: Any, postgres: PostgresServer, django_db_blocker: Any
) -> None:
    def write(number: int) -> None:
        """In a thread with a connection of its own."""
        with django_db_blocker.unblock():
            run(connections[ALIAS], "INSERT INTO numbers VALUES (%s)", number)
            connections[ALIAS].close()

    with ThreadPoolExecutor(1) as other:
        with transaction.atomic(using=ALIAS):
            waits = other.submit(write, 2)
            while not run(connection, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"):
                assert not waits.done()
            run(connection, "INSERT INTO numbers VALUES (1)")
            assert numbers(connection) == [1]
        waits.result()
    assert numbers(connection) == [1, 2]


def test_who_writes_beside_the_others_waits_for_nobody(connection: Any, django_db_blocker: Any) -> None:
    def write(number: int) -> None:
        with django_db_blocker.unblock():
            mine: Any = connections[ALIAS]
            with mine.beside_writers():
                run(mine, "INSERT INTO numbers VALUES (%s)", number)
            mine.close()

    with ThreadPoolExecutor(1) as other, transaction.atomic(using=ALIAS):
        run(connection, "INSERT INTO numbers VALUES (1)")
        other.submit(write, 2).result()
        assert numbers(connection) == [1, 2]


def test_who_waits_for_too_long_is_told_and_can_go_on(connection: Any, django_db_blocker: Any) -> None:
    def hold(begun: threading.Event, done: threading.Event) -> None:
        with django_db_blocker.unblock():
            with transaction.atomic(using=ALIAS):
                begun.set()
                done.wait()
            connections[ALIAS].close()

    begun, done = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as other:
        held = other.submit(hold, begun, done)
        begun.wait()
        run(connection, "SET lock_timeout = '50ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            connection.steadily(lambda: run(connection, "INSERT INTO numbers VALUES (1)"))
        done.set()
        held.result()
    connection.steadily(lambda: run(connection, "INSERT INTO numbers VALUES (2)"))
    assert numbers(connection) == [2]
