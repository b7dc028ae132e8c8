"""The symbols of a project by name, for `/find/symbol` and the composer."""

from __future__ import annotations

from pathlib import Path

from agents.servers.lsp.types import Location, Position, Range, Symbol
from agents.servers.lsp.uses.symbols import best, wire

ROOT = Path("/project")
PLACE = Range(Position(3, 0), Position(5, 1))
FUNCTION, VARIABLE, FIELD = 12, 13, 8


def symbol(name: str, kind: int = FUNCTION, path: str = "a.py") -> Symbol:
    return Symbol(name, kind, Location(ROOT / path, PLACE))


def names(query: str, *symbols: Symbol, limit: int = 10) -> list[str]:
    return [found.name for found in best(symbols, ROOT, query, limit)]


def test_the_best_come_first() -> None:
    found = [symbol(name) for name in ("ahello", "helloWorld", "Hello", "hxexlxlxo", "hello", "pkg.hello")]
    assert names("hello", *found) == ["hello", "pkg.hello", "Hello", "helloWorld", "ahello", "hxexlxlxo"]
    assert names("hello", symbol("hello2", VARIABLE), symbol("hello_there")) == ["hello_there", "hello2"]


def test_only_so_many_each_once_of_the_project_and_of_kinds_that_are_looked_for() -> None:
    assert len(names("s", *(symbol(f"s{number}") for number in range(30)))) == 10
    assert names("s", symbol("s"), symbol("s")) == ["s"]
    elsewhere = Symbol("s", FUNCTION, Location(Path("/lib/a.py"), PLACE))
    assert names("s", elsewhere, symbol("s", FIELD)) == []


def test_what_clients_get_is_as_the_protocol_has_it() -> None:
    place = {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": 1}}
    location = {"uri": "file:///project/a%20b.py", "range": place}
    assert wire([symbol("greet", path="a b.py")]) == [
        {"name": "greet", "kind": FUNCTION, "location": location}
    ]
