"""What something costs a team, as counts of what its machines did for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, Self

from redis import Redis

from bench import proc
from tests.postgres_server import PostgresServer
from tests.redis_server import RedisServer

EXTENSION = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.max": "20000",
    "pg_stat_statements.track": "top",
}
"""Settings of a PostgreSQL whose statements can be counted."""
_STATEMENTS = (
    "SELECT query, sum(calls), sum(rows), sum(wal_bytes), sum(wal_fpi) FROM pg_stat_statements "
    "JOIN pg_database ON pg_database.oid = dbid AND datname <> current_database() GROUP BY query"
)
UNSENT = re.compile(r"COMMIT|SELECT pg_advisory_xact_lock|SELECT \S+ FROM ONLY ")
"""No message of their own: COMMIT is counted with its BEGIN, the lock of who writes goes with that, and
foreign keys are looked up by the database itself."""


@dataclass(frozen=True, slots=True)
class Cost:
    """`reads`, `writes` and `others` (savepoints, SET) are statements. `transactions` are those that write:
    each has a BEGIN and a COMMIT more. `rows` were inserted, changed or deleted; `wal_bytes` are what
    PostgreSQL logged of that, `pages` of it as whole pages. `hints` are messages to Redis. The rest is
    processor time (ms)."""

    reads: float = 0.0
    writes: float = 0.0
    others: float = 0.0
    transactions: float = 0.0
    rows: float = 0.0
    wal_bytes: float = 0.0
    pages: float = 0.0
    hints: float = 0.0
    node_ms: float = 0.0
    front_ms: float = 0.0
    postgres_ms: float = 0.0

    @property
    def statements(self) -> float:
        return self.reads + self.writes + self.others

    @property
    def trips(self) -> float:
        """Messages to PostgreSQL, each of which waits for its answer."""
        return self.statements + 2 * self.transactions

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Self) -> Self:
        return self + other * -1

    def __mul__(self, times: float) -> Self:
        return type(self)(*(value * times for value in astuple(self)))

    def rounded(self) -> dict[str, float]:
        """By name, to three digits. What is less than a thousandth, or below nothing by what came between, is
        left out."""
        values = {field.name: float(f"{getattr(self, field.name):.3g}") for field in fields(self)}
        return {name: value for name, value in values.items() if value >= 0.001}


def statements(postgres: PostgresServer) -> dict[str, tuple[int, Cost]]:
    """How often each statement was sent since the server began, and what that was together; values in
    statements are not told apart (`$1`)."""
    found = {}
    for query, calls, rows, wal_bytes, pages in postgres.query(_STATEMENTS):
        found[str(query)] = int(calls), _cost(str(query), int(calls), int(rows), int(wal_bytes), int(pages))
    return found


def _cost(query: str, calls: int, rows: int, wal_bytes: int, pages: int) -> Cost:
    logged = Cost(wal_bytes=wal_bytes, pages=pages)
    word = re.sub(r"\W.*", "", query.strip(), flags=re.DOTALL).upper()
    if UNSENT.match(query):
        return logged
    if word in ("INSERT", "UPDATE", "DELETE"):
        return logged + Cost(writes=calls, rows=rows)
    if word in ("SELECT", "WITH"):
        return logged + Cost(reads=calls)
    return logged + (Cost(transactions=calls) if word == "BEGIN" else Cost(others=calls))


@dataclass(frozen=True, slots=True)
class Meter:
    """Counts what nodes and fronts (ids of their processes), PostgreSQL and Redis have done."""

    postgres: PostgresServer
    nodes: Sequence[int] = ()
    fronts: Sequence[int] = ()
    redis: RedisServer | None = None

    def read(self, *, begins: bool = False) -> Cost:
        """From the start of each on. What it takes to ask comes before what `begins`, and after what ends."""
        if begins:
            counted = self._counted()
            return counted + self._processors()
        processors = self._processors()
        return processors + self._counted()

    def _counted(self) -> Cost:
        hints = Cost(hints=float(_published(self.redis))) if self.redis else Cost()
        return sum((cost for _, cost in statements(self.postgres).values()), hints)

    def _processors(self) -> Cost:
        node, front = (sum(map(proc.cpu, pids)) * 1000 for pids in (self.nodes, self.fronts))
        return Cost(node_ms=node, front_ms=front, postgres_ms=proc.cpu(self.postgres.pid) * 1000)


def _published(redis: RedisServer) -> int:
    with Redis.from_url(redis.url) as client:
        told: Any = client.info("commandstats")
    return int(told.get("cmdstat_publish", {}).get("calls", 0))
