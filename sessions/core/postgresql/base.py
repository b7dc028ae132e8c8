"""Django's backend for PostgreSQL, made to keep what the rows may rely on with SQLite
(docs/decisions/0048).

Texts have no length and are sorted by their bytes. What PostgreSQL cannot keep of a text, NUL and halves of
characters in JSON, becomes U+FFFD. There is one writer at a time. A connection that the server ended is
replaced. Only a process that is configured for PostgreSQL imports this.
"""

from __future__ import annotations

import json
import re
import select
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base, operations, schema
from django.db.backends.utils import debug_transaction
from psycopg.adapt import AdaptersMap
from psycopg.types.json import Jsonb
from psycopg.types.string import StrDumperUnknown

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that a call waits for a server that went away to come back."""
_PAUSE = 0.1
_WRITES = ("INSERT", "UPDATE", "DELETE")
_WRITER = 0x6F63_7761
"""With the number of a schema the advisory lock of who writes there."""
_INSTALLATION = 0x6F63_7762
"""With the number of an installation the advisory lock that all of its connections share."""
_OTHERS = (
    "SELECT 1 FROM pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database() "
    "WHERE locktype = 'advisory' AND objsubid = 2 AND classid = %s AND objid <> %s LIMIT 1"
)
_BEGIN = f"BEGIN; SELECT pg_advisory_xact_lock({_WRITER}, hashtext(current_schema()))"
_PASSES = frozenset({"40001", "40P01", "53300", "57P01", "57P02", "57P03"})
"""Serialization and deadlock, too many connections, a server that ends or starts: what goes by."""
_TEXTS = ("varchar", "text")
_NO_TEXT = re.compile(r"\\\\|\\u0000|\\ud[89ab]\w\w\\ud[c-f]\w\w|\\ud[89a-f]\w\w")
"""In JSON: what is no character, and what only looks like it."""


class _Text(StrDumperUnknown):
    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\ufffd"))

    def quote(self, obj: str) -> Any:
        return super().quote(obj.replace("\0", "\ufffd"))


def _in_json(value: Any, encoder: type[json.JSONEncoder] | None) -> str:
    text = json.dumps(value, cls=encoder)
    if "\\u0000" not in text and "\\ud" not in text:
        return text
    return _NO_TEXT.sub(lambda found: found[0] if len(found[0]) in (2, 12) else "\\ufffd", text)


class DatabaseOperations(operations.DatabaseOperations):
    def adapt_json_value(self, value: Any, encoder: type[json.JSONEncoder] | None) -> Any:
        return Jsonb(value, dumps=partial(_in_json, encoder=encoder))


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def _iter_column_sql(
        self, column_db_type: str, params: Any, model: Any, field: Any, field_db_params: Any, *more: Any
    ) -> Any:
        if column_db_type in _TEXTS:
            field_db_params = {**field_db_params, "collation": "C"}
        columns = super()._iter_column_sql  # type: ignore[misc]  # not in the stubs
        return columns(column_db_type, params, model, field, field_db_params, *more)

    def _alter_column_type_sql(
        self,
        model: Any,
        old_field: Any,
        new_field: Any,
        new_type: str,
        old_collation: Any,
        new_collation: Any,
    ) -> Any:
        collation = "C" if new_type in _TEXTS else new_collation
        alter = super()._alter_column_type_sql  # type: ignore[misc]  # not in the stubs
        return alter(model, old_field, new_field, new_type, old_collation, collation)

    def _create_like_index_sql(self, model: Any, field: Any) -> None:
        """What is sorted by its bytes needs no second index for the beginnings of texts."""


class DatabaseWrapper(base.DatabaseWrapper):
    data_types = {**base.DatabaseWrapper.data_types, "CharField": "varchar"}  # noqa: RUF012 (as Django has it)
    ops_class = DatabaseOperations
    SchemaEditorClass = DatabaseSchemaEditor

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._may_have_written = False
        self._is_away = False
        self._is_beside_writers = False
        self.execute_wrappers.append(self._one_writer)

    def steadily(self, work: Callable[[], T]) -> T:
        """Do what uses the ORM; once more on new connections where the server went away before any of it can
        have been written, and waits for it. Raises what `work` raises."""
        if self.in_atomic_block:
            return work()
        for one in self._every():
            one._close_if_ended()
        end = time.monotonic() + (0 if self._is_away else PATIENCE)
        while True:
            for one in self._every():
                one._may_have_written = False
            try:
                done = work()
            except (OperationalError, InterfaceError) as error:
                if not self._passes(error):
                    raise
                written = any(one._may_have_written for one in self._every())
                for one in self._every():
                    one.close()
                self._is_away = time.monotonic() > end
                if written or self._is_away:
                    raise
                time.sleep(_PAUSE)
            else:
                self._is_away = False
                return done

    def _every(self) -> list[DatabaseWrapper]:
        """This and the other connections of the thread: a process of a team has two, to the same server."""
        others = (one for one in connections.all(initialized_only=True) if one is not self)
        return [self, *(one for one in others if isinstance(one, DatabaseWrapper))]

    def _passes(self, error: Exception) -> bool:
        """Whether the same may go well on other connections."""
        state = getattr(error.__cause__, "sqlstate", None)
        if any(one.connection is not None and one.connection.closed for one in self._every()):
            return True
        return state in _PASSES or (state is None and any(one.connection is None for one in self._every()))

    def _close_if_ended(self) -> None:
        """What the server says unasked is that it ends the connection, or a notice."""
        if self.connection is None or self.connection.closed:
            self.close()
            return
        poll = select.poll()
        poll.register(self.connection.fileno(), select.POLLIN)
        if poll.poll(0) and not self.is_usable():
            self.close()

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params["context"] = adapters = AdaptersMap(params["context"])
        adapters.register_dumper(str, _Text)
        return params

    def init_connection_state(self) -> None:
        """Raises OperationalError while another installation uses the database: the folders that the rows are
        about are on one machine. Who makes and drops databases uses none."""
        super().init_connection_state()
        if self.alias == NO_DB_ALIAS:
            return
        mine = zlib.crc32(settings.INSTALLATION.encode()) & 0x7FFF_FFFF
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock_shared(%s, %s)", [_INSTALLATION, mine])
            if cursor.execute(_OTHERS, [_INSTALLATION, mine]).fetchone():
                raise OperationalError(
                    "another installation, with another secret, uses this database now; give each its own"
                )

    def _start_transaction_under_autocommit(self) -> None:
        """Who begins a transaction is the only writer until it ends, as with SQLite: what it read stays so,
        and rows that are numbered become visible in the order of their numbers."""
        with debug_transaction(self, _BEGIN), self.wrap_database_errors:
            try:
                self.connection.execute(_BEGIN)
            except Exception:
                self.connection.rollback()  # it has begun, and waited for too long
                raise

    def _one_writer(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        """So is a single statement."""
        writes = sql.lstrip()[:6].upper().startswith(_WRITES)
        if not writes or self.in_atomic_block or self._is_beside_writers:
            return execute(sql, params, many, context)
        with transaction.atomic(using=self.alias):
            return execute(sql, params, many, context)

    @contextmanager
    def beside_writers(self) -> Iterator[None]:
        """Single statements wait for no writer meanwhile, and are one message and not three: for rows that
        have no number, and that nobody who writes relies on."""
        self._is_beside_writers = True
        try:
            yield
        finally:
            self._is_beside_writers = False

    def _commit(self) -> None:
        self._may_have_written = True
        super()._commit()  # type: ignore[misc]  # not in the stubs
