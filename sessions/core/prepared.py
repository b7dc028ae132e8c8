"""Statements whose SQL is put together once: for what every step of a turn reads and writes
(docs/decisions/0034)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler
from django.db.models.utils import create_namedtuple_class

M = TypeVar("M", bound=Model)


def _here() -> BaseDatabaseWrapper:
    """The connection itself: what Django calls `connection` looks for it anew at each word."""
    return connections[DEFAULT_DB_ALIAS]


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
        with _here().cursor() as cursor:
            cursor.execute(f"{self._sql}{limit}", values)
            return self._made(cursor.fetchall())

    def _prepare(self, count: int) -> Callable[[Sequence[Sequence[Any]]], list[Any]]:
        marks = [_Mark(number) for number in range(count)]
        query = self._build(*marks)
        compiler = query.query.get_compiler(connection=_here())
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
            about, compiler.select, DEFAULT_DB_ALIAS
        )

    def __call__(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        return [self._made(row) for row in self._converted(rows)]

    def _made(self, row: Sequence[Any]) -> Model:
        made = self._model.from_db(DEFAULT_DB_ALIAS, self._names, row[self._own])
        for joined in self._joined:
            joined.populate(row, made)
        return made


class Insert(Generic[M]):
    """Inserts rows. Fields are written as they are: none may want something done before it is saved. Those
    that are `found` by the database have its expression here, by their names."""

    def __init__(self, model: type[M], found: Mapping[str, str] | None = None) -> None:
        self._model = model
        self._found = found or {}
        self._begin = ""

    def put(self, rows: Sequence[M], **parameters: Sequence[object]) -> None:
        """Call it on the ORM's thread; in a transaction, as it may take several statements. `parameters` are
        those of expressions, by the names of their fields, which the rows do not know then."""
        fields, connection = self._model._meta.concrete_fields, _here()
        marks = f"({', '.join(self._found.get(field.name, '%s') for field in fields)})"
        begin, end = self._statement()
        limit = connection.features.max_query_params
        most = limit // len(fields) if limit else max(len(rows), 1)
        for start in range(0, len(rows), most):
            some = rows[start : start + most]
            values: list[Any] = []
            for row in some:
                for field in fields:
                    if field.name in self._found:
                        values += parameters[field.name]
                        row.__dict__.pop(field.name, None)
                    else:
                        values.append(field.get_db_prep_save(getattr(row, field.attname), connection))
            with connection.cursor() as cursor:
                cursor.execute(f"{begin}{', '.join([marks] * len(some))}{end}", values)
            for row in some:
                row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS

    def _statement(self) -> tuple[str, str]:
        """What stands before the rows, and after them."""
        if not self._begin:
            about, quoted = self._model._meta, _here().ops.quote_name
            columns = ", ".join(quoted(field.column or "") for field in about.concrete_fields)
            self._begin = f"INSERT INTO {quoted(about.db_table)} ({columns}) VALUES "  # noqa: S608 (of the model)
        return self._begin, ""


class Upsert(Insert[M]):
    """Inserts rows whose id is new, and replaces the others, all but the columns `kept`."""

    def __init__(self, model: type[M], kept: Collection[str] = ()) -> None:
        super().__init__(model)
        self._kept = {"id", *kept}
        self._end = ""

    def _statement(self) -> tuple[str, str]:
        begin, _ = super()._statement()
        if not self._end:
            fields, quoted = self._model._meta.concrete_fields, _here().ops.quote_name
            changed = [quoted(field.column or "") for field in fields if field.name not in self._kept]
            news = ", ".join(f"{column} = EXCLUDED.{column}" for column in changed)
            self._end = f" ON CONFLICT ({quoted('id')}) DO UPDATE SET {news}"
        return begin, self._end


class Update(Generic[M]):
    """Writes columns of rows that are there, as `Insert` does."""

    def __init__(self, model: type[M], found: Mapping[str, str] | None = None) -> None:
        self._model = model
        self._found = found or {}
        self._statements: dict[tuple[str, ...], str] = {}

    def put(self, row: M, *names: str, **parameters: Sequence[object]) -> None:
        """Call it on the ORM's thread. The columns of these fields, and those that the database finds, of
        which the row does not know then. Raises DatabaseError for a row that is gone."""
        about, names, connection = self._model._meta, tuple(dict.fromkeys(names)), _here()
        fields: list[Any] = [about.get_field(name) for name in names]
        values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        for name in self._found:
            values += parameters[name]
            row.__dict__.pop(name, None)
        with connection.cursor() as cursor:
            cursor.execute(self._statement(names), [*values, row.pk])
            if cursor.rowcount != 1:
                raise DatabaseError(f"{about.object_name} {row.pk} is gone")

    def _statement(self, names: tuple[str, ...]) -> str:
        if names not in self._statements:
            about: Any = self._model._meta
            quoted = _here().ops.quote_name
            news = {**dict.fromkeys(names, "%s"), **self._found}
            columns = ", ".join(f"{quoted(about.get_field(name).column)} = {news[name]}" for name in news)
            table, key = quoted(about.db_table), quoted(about.pk.column)
            self._statements[names] = f"UPDATE {table} SET {columns} WHERE {key} = %s"  # noqa: S608 (of the model)
        return self._statements[names]


def delete(row: Model) -> None:
    """A row that nothing else hangs on, which Django would look for. Call it on the ORM's thread."""
    about: Any = row._meta
    connection = _here()
    table, key = map(connection.ops.quote_name, (about.db_table, about.pk.column))
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE {key} = %s", [row.pk])  # noqa: S608 (names of the model)


class _Mark(str):
    """Stands for a parameter."""

    number: int

    def __new__(cls, number: int) -> _Mark:
        mark = super().__new__(cls, f"parameter {number}")
        mark.number = number
        return mark
