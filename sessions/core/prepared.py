"""Statements whose SQL is put together once: for what every step of a turn reads and writes
(docs/decisions/0034)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.utils import create_namedtuple_class

M = TypeVar("M", bound=Model)


class Prepared(Generic[M]):
    """`build` is given the parameters, texts that a query compares with as they are, and makes the query; it
    is called once. With nothing in it that depends on the moment."""

    def __init__(self, build: Callable[..., QuerySet[M]]) -> None:
        self._build = build
        self._sql = ""
        self._values: list[object] = []
        self._made: Callable[[Sequence[Sequence[Any]]], list[Any]] | None = None

    def rows(self, *parameters: str) -> list[M]:
        """Objects, with those that `select_related` joins. Call it on the ORM's thread."""
        return self._ask(parameters)

    def named(self, *parameters: str, limit: int | None = None) -> list[Any]:
        """The same of a query by `values_list(…, named=True)`, which is for many; not more than `limit`."""
        return self._ask(parameters, "" if limit is None else f" LIMIT {limit:d}")

    def first(self, *parameters: str) -> M | None:
        """The first of the rows, if there is one."""
        return next(iter(self.rows(*parameters)), None)

    def _ask(self, parameters: Sequence[str], limit: str = "") -> list[Any]:
        if self._made is None:
            self._made = self._prepare(len(parameters))
        values: list[Any] = [
            parameters[value.number] if isinstance(value, _Mark) else value for value in self._values
        ]
        with connection.cursor() as cursor:
            cursor.execute(f"{self._sql}{limit}", values)
            return self._made(cursor.fetchall())

    def _prepare(self, count: int) -> Callable[[Sequence[Sequence[Any]]], list[Any]]:
        marks = [_Mark(number) for number in range(count)]
        query = self._build(*marks)
        compiler = query.query.get_compiler(connection=connection)
        self._sql, values = compiler.as_sql()
        self._values = list(values)
        found = {value.number for value in values if isinstance(value, _Mark)}
        assert found == set(range(count)), "a parameter is not in the query as it is"
        fields = getattr(query, "_fields", None)
        return _Named(compiler, fields) if fields else _Objects(compiler)


class _Rows:
    """Rows of the database with what Django makes of a column."""

    def __init__(self, compiler: SQLCompiler) -> None:
        self._compiler = compiler
        self._converters = compiler.get_converters([column for column, *_ in compiler.select])

    def _converted(self, rows: Sequence[Sequence[Any]]) -> Iterable[Sequence[Any]]:
        return self._compiler.apply_converters(rows, self._converters) if self._converters else rows


class _Named(_Rows):
    """As named tuples."""

    def __init__(self, compiler: SQLCompiler, fields: Sequence[str]) -> None:
        super().__init__(compiler)
        self._make: Any = create_namedtuple_class(*fields)._make

    def __call__(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        return [self._make(row) for row in self._converted(rows)]


class _Objects(_Rows):
    """As objects of their models, those that are joined hanging on one another."""

    def __init__(self, compiler: SQLCompiler) -> None:
        super().__init__(compiler)
        about: Any = compiler.klass_info
        own = about["select_fields"]
        self._model: type[Model] = about["model"]
        self._own = slice(own[0], own[-1] + 1)
        self._names = [column.target.attname for column, *_ in compiler.select[self._own]]
        self._joined = get_related_populators(  # type: ignore[call-arg]  # the stubs are of Django 6.1
            about, compiler.select, connection.alias
        )

    def __call__(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        return [self._made(row) for row in self._converted(rows)]

    def _made(self, row: Sequence[Any]) -> Model:
        made = self._model.from_db(connection.alias, self._names, row[self._own])
        for joined in self._joined:
            joined.populate(row, made)
        return made


class Upsert(Generic[M]):
    """Inserts rows whose id is new, and replaces the others, all but the columns `kept`. Fields are written
    as they are: none may want something done before it is saved."""

    def __init__(self, model: type[M], kept: Collection[str] = ()) -> None:
        self._model = model
        self._kept = {"id", *kept}
        self._ends = ("", "")

    def put(self, rows: Sequence[M]) -> None:
        """Call it on the ORM's thread; in a transaction, as it may take several statements."""
        fields = self._model._meta.concrete_fields
        marks = f"({', '.join(['%s'] * len(fields))})"
        begin, end = self._statement()
        limit = connection.features.max_query_params
        most = limit // len(fields) if limit else max(len(rows), 1)
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            values = [
                field.get_db_prep_save(getattr(row, field.attname), connection)
                for row in some
                for field in fields
            ]
            with connection.cursor() as cursor:
                cursor.execute(f"{begin}{', '.join([marks] * len(some))}{end}", values)

    def _statement(self) -> tuple[str, str]:
        if not self._ends[0]:
            about, quoted = self._model._meta, connection.ops.quote_name
            columns = {field.name: quoted(field.column or "") for field in about.concrete_fields}
            changed = [column for name, column in columns.items() if name not in self._kept]
            news = ", ".join(f"{column} = EXCLUDED.{column}" for column in changed)
            into = f"{quoted(about.db_table)} ({', '.join(columns.values())})"
            begin = f"INSERT INTO {into} VALUES "  # noqa: S608 (names of the model)
            self._ends = begin, f" ON CONFLICT ({quoted('id')}) DO UPDATE SET {news}"
        return self._ends


class _Mark(str):
    """Stands for a parameter."""

    number: int

    def __new__(cls, number: int) -> _Mark:
        mark = super().__new__(cls, f"parameter {number}")
        mark.number = number
        return mark
