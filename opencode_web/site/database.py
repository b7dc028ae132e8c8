"""Is the database fit to be used? Asked once at the start, before anything else opens it.

A damaged file is put aside, and what can be read of it goes into a new one (docs/decisions/0021).
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import DEFAULT_DB_ALIAS, connection, connections, router
from django.db.backends.utils import CursorWrapper
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import DatabaseError

from opencode_web import team
from opencode_web.site.salvage import salvage
from sessions.changes.upkeep import copies, damage
from sessions.core import paths
from sessions.core.index import fts

logger = logging.getLogger(__name__)

APPEND_ONLY = {"decision_unchanged": "BEFORE UPDATE", "decision_undeleted": "BEFORE DELETE"}
_STAYS = "a decision stays as it was written"
_SERVER = "the PostgreSQL of OPENCODE_WEB_DATABASE cannot be used"
_MIGRATES = 0x6F63_7765_6202
"""The advisory lock of who brings the tables up to date."""
_SHARED = ("opencode_nodes", "people", "sessions", "account", "mfa", "socialaccount")
"""Applications whose rows a team shares; what they depend on comes with them."""
_ADVICE = "is the disk full, or may it not be written? XDG_DATA_HOME names another folder"
_IN_USE = "in-use.lock"
_held: list[IO[str]] = []
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
_SIDECARS = ("-wal", "-shm", "-journal")


class Unusable(Exception):
    """The server cannot start with this database; the text says why and what to do."""


def prepare() -> str:
    """Check the configured database and bring it up to date.

    Return what was saved of it and what was not, in words, if it was damaged; else an empty text. Raise
    Unusable for a database that is newer than this program, a place where SQLite cannot keep its write-ahead
    log, a disk that is full or cannot be written, and a server that does not let us in or is too old.
    """
    database = settings.DATABASES["default"]
    if not str(database["ENGINE"]).endswith("sqlite3"):
        _prepare_server()
        return ""
    file = Path(str(database["NAME"]))
    try:
        with _one_at_a_time(file.with_name("start.lock")):
            said = mend(file)
            verify_wal(file)
            _share(file)
            with closing(connection):
                migrated = _migrate()
            if migrated or not copies.copies():
                _copy()
        file.chmod(0o600)
    except (sqlite3.Error, DatabaseError) as error:
        raise Unusable(f"{file} cannot be used: {error}; {_ADVICE}") from error
    return said


def _prepare_server() -> None:
    try:
        with closing(connection), connection.cursor() as cursor:
            cursor.execute("SHOW server_encoding")
            if (encoding := cursor.fetchone()[0]) != "UTF8":
                raise Unusable(f"{_SERVER}: its texts are {encoding}; make one with ENCODING 'UTF8'")
            # Until the connection is closed. A migration takes its time, and so does waiting for one.
            cursor.execute("SET statement_timeout = 0; SET lock_timeout = 0")
            cursor.execute("SELECT pg_advisory_lock(%s)", [_MIGRATES])
            if schema := team.schema(os.environ):
                _prepare_schemas(cursor, schema)
            _migrate()
    except DatabaseError as error:
        raise Unusable(f"{_SERVER}: {str(error).strip()}") from error


def _prepare_schemas(cursor: CursorWrapper, schema: str) -> None:
    """That of this process, and the one that its team shares. A node's own is of one data folder, which has
    what the rows are about: its comment says of which."""
    cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    if name := team.node(os.environ):
        cursor.execute("SELECT obj_description(%s::regnamespace, 'pg_namespace')", [schema])
        mine, (owner,) = paths.identity(), cursor.fetchone()
        if owner not in (None, mine):
            raise Unusable(
                f"{name} is the name of another machine, or of another data folder: choose another one, or "
                f"have one of the others say `opencode-web node forget {name}`"
            )
        cursor.execute(f"COMMENT ON SCHEMA {schema} IS '{mine}'")
    cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {team.SHARED}")
    with closing(connections[team.ALIAS]):
        for label in filter(_is_there, _SHARED):
            call_command("migrate", label, database=team.ALIAS, interactive=False, verbosity=0)


def _is_there(label: str) -> bool:
    return any(application.label == label for application in apps.get_app_configs())


def _copy() -> None:
    """After each migration: the list of tables in it can stand in for one that is damaged. The server can do
    without."""
    try:
        copies.copy_now()
    except (OSError, sqlite3.Error) as error:
        logger.warning("the database was not copied: %s", error)


def mend(file: Path) -> str:
    """Put a file that SQLite finds damaged aside, as `NAME.corrupt-TIME`, and salvage what can be read of it
    into a new one. What came of it, in words; empty for a sound one. Raises OSError and sqlite3.Error."""
    aside = put_aside(file)
    if aside is None:
        return ""
    done = salvage(aside, file, copies.copies(), make_tables)
    damage.write_report(aside, [asdict(table) for table in done.tables], done.copy)
    report = damage.report()
    said = f"{report.text if report else ''} The damaged file was kept as {aside}."
    logger.error("%s", said)
    return said


def make_tables(folder: Path) -> Path | None:
    """A new database in a data folder of its own, as another process makes it: migrations know no other
    database than that of their process. None, and a line in the log, if that fails."""
    environ = {
        "XDG_DATA_HOME": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "DJANGO_SETTINGS_MODULE": "opencode_web.settings",
    }
    try:
        subprocess.run(
            [sys.executable, "-P", "-m", "django", "migrate", "--verbosity", "0"],
            cwd=folder, env=os.environ | environ, timeout=60, check=True, capture_output=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("no new database could be made beside the damaged one: %s", error)
        return None
    return paths.database(environ)


def put_aside(file: Path) -> Path | None:
    """Move a damaged file out of the way with its write-ahead log, and return where it is now; also the one
    that was moved by a start which ended before anything stood in its place."""
    if file.exists():
        fault = find_fault(file)
        if not fault:
            return None
        logger.error("%s is damaged: %s", file, fault)
        _claim(file, fault)
        aside = damage.aside(file, f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    elif damaged := damage.files():
        aside = damaged[-1]
    else:
        return None
    for suffix in ("", *_SIDECARS):
        part = file.with_name(file.name + suffix)
        if part.exists():
            part.rename(aside.with_name(aside.name + suffix))
    return aside


def verify_wal(file: Path) -> None:
    """Raise Unusable unless the write-ahead log can be switched on (not on NFS and some shared mounts)."""
    try:
        with closing(sqlite3.connect(file, timeout=20)) as connection_:
            mode = connection_.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    except sqlite3.Error as error:
        raise Unusable(f"{file} cannot be opened: {error}") from error
    if mode != "wal":
        raise Unusable(
            f"SQLite cannot keep a write-ahead log beside {file} (journal mode {mode!r}), as on network "
            f"drives; set XDG_DATA_HOME to a folder on a local disk"
        )


def pending_migrations() -> set[tuple[str, str]]:
    """(app, name) of the migrations on disk that the database lacks. Raise Unusable if it has more."""
    on_disk = migrations_on_disk()
    applied = set(MigrationRecorder(connection).applied_migrations())
    labels = {app for app, _ in on_disk}
    newer = sorted(f"{app}.{name}" for app, name in applied - on_disk if app in labels)
    if newer:
        raise Unusable(
            f"the database was written by a newer opencode-web (it has {', '.join(newer)}); "
            f"upgrade, or set XDG_DATA_HOME to another folder"
        )
    return on_disk - applied


def migrations_on_disk() -> set[tuple[str, str]]:
    """(app, name) of all migrations of this program."""
    return {
        (app.label, file.stem)
        for app in apps.get_app_configs()
        for file in Path(app.path, "migrations").glob("[0-9]*.py")
    }


def find_fault(file: Path) -> str:
    """What is wrong with the file; empty when nothing is. Raise Unusable when it cannot be looked at."""
    if not file.is_dir() and file.stat().st_size == 0 and copies.copies():
        return "the file is empty"
    try:
        with closing(sqlite3.connect(file, timeout=20)) as connection_:
            answer: Any = connection_.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _DAMAGE:
            return str(error)
        raise Unusable(f"{file} cannot be opened: {error}") from error
    return "" if answer == "ok" else str(answer)


def _migrate() -> bool:
    """Whether there was something to change."""
    pending = bool(pending_migrations())
    if pending and not connection.introspection.table_names():
        create_tables()
    elif pending:
        call_command("migrate", interactive=False, verbosity=0)
    protect_decisions()
    return pending


def create_tables() -> None:
    """In an empty database, as the models have them: the way through all migrations takes a second."""
    recorder = MigrationRecorder(connection)
    with connection.schema_editor() as editor:  # one transaction
        editor.create_model(recorder.Migration)
        for model in apps.get_models():
            if router.allow_migrate_model(DEFAULT_DB_ALIAS, model):
                editor.create_model(model)
        if fts.is_possible():
            fts.create()
        for app, name in sorted(migrations_on_disk()):
            recorder.record_applied(app, name)


def protect_decisions() -> None:
    """Let the database itself refuse to change or delete what was decided on permissions.

    At every start, because a table that a migration makes anew loses its triggers.
    """
    table = apps.get_model("opencode_sessions", "Decision")._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "CREATE OR REPLACE FUNCTION decision_stays() RETURNS trigger LANGUAGE plpgsql "
                f"AS $$ BEGIN RAISE EXCEPTION '{_STAYS}'; END $$"
            )
        for name, when in APPEND_ONLY.items():
            if connection.vendor == "postgresql":
                trigger = f'CREATE OR REPLACE TRIGGER "{name}" {when} ON "{table}" '
                cursor.execute(f"{trigger} FOR EACH ROW EXECUTE FUNCTION decision_stays()")
            else:
                trigger = f'CREATE TRIGGER IF NOT EXISTS "{name}" {when} ON "{table}" '
                cursor.execute(f"{trigger} BEGIN SELECT RAISE(ABORT, '{_STAYS}'); END")


def _share(file: Path) -> None:
    """Until this process ends, nobody puts the file aside under it."""
    handle = file.with_name(_IN_USE).open("w")
    fcntl.flock(handle, fcntl.LOCK_SH)
    _held[:] = [handle]


def _claim(file: Path, fault: str) -> None:
    """Raise Unusable when another process uses the file: it would go on writing to what is put aside."""
    _held.clear()
    with file.with_name(_IN_USE).open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Unusable(
                f"{file} is damaged ({fault}), and a server uses it: stop that first; "
                f"what can be read is salvaged at the next start"
            ) from error


@contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    """Two servers that start at once migrate one after the other."""
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
