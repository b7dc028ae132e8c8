"""Queries whose SQL is put together once: for what every step of a turn reads (docs/decisions/0034)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet

M = TypeVar("M", bound=Model)


class Prepared(Generic[M]):
    """`build` is given the parameters, texts that a query compares with as they are, and makes the query; it
    is called once. Without `select_related`, and with nothing in it that depends on the moment."""

    def __init__(self, build: Callable[..., QuerySet[M]]) -> None:
        self._build = build
        self._sql = ""
        self._values: list[object] = []
        self._model: type[M] | None = None

    def rows(self, *parameters: str) -> list[M]:
        """Call it on the ORM's thread."""
        if self._model is None:
            self._prepare(len(parameters))
        assert self._model is not None
        values = [parameters[value.number] if isinstance(value, _Mark) else value for value in self._values]
        return list(self._model._default_manager.raw(self._sql, values))

    def first(self, *parameters: str) -> M | None:
        """The first of the rows, if there is one."""
        return next(iter(self.rows(*parameters)), None)

    def _prepare(self, count: int) -> None:
        marks = [_Mark(number) for number in range(count)]
        query = self._build(*marks)
        self._sql, values = query.query.get_compiler(connection=connection).as_sql()
        self._values = list(values)
        found = {value.number for value in values if isinstance(value, _Mark)}
        assert found == set(range(count)), "a parameter is not in the query as it is"
        self._model = query.model


class _Mark(str):
    """Stands for a parameter."""

    number: int

    def __new__(cls, number: int) -> _Mark:
        mark = super().__new__(cls, f"parameter {number}")
        mark.number = number
        return mark
