"""Which lines an attachment means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.agent.attachments import files
from agents.agent.attachments.files import Lines, lines_of, matching
from agents.servers.lsp.types import Location, Position, Range, Symbol
from tests.agents.servers.lsp.uses import places
from tests.agents.servers.lsp.uses.places import CODE, Configured

FILE = Path("/project/a.py")


def place(first: int, last: int, column: int = 0) -> Range:
    return Range(Position(first, column), Position(last, 80))


def symbol(name: str, first: int, last: int) -> Symbol:
    return Symbol(name, 12, Location(FILE, place(first, last)))


SYMBOLS = [symbol("Greeter", 5, 20), symbol("greet", 6, 9), symbol("inner", 6, 6), symbol("greet", 30, 33)]


@pytest.mark.parametrize(
    ("line", "name", "found"),
    [
        (6, "greet", (6, 9)),
        (31, "greet", (30, 33)),
        (12, "greet", (6, 9)),
        (27, "greet", (30, 33)),
        (6, "pkg.greet", (6, 9)),
        (5, "unknown", (5, 20)),
        (6, "", (6, 9)),
        (7, "", None),
        (7, "unknown", None),
    ],
    ids=[
        "there",
        "the second",
        "moved up",
        "moved down",
        "with its package",
        "by its line",
        "no name",
        "",
        "",
    ],
)
def test_the_symbol_that_a_place_means(line: int, name: str, found: tuple[int, int] | None) -> None:
    match = matching(SYMBOLS, place(line, line, 4), name)
    lines = (match.location.range.start.line, match.location.range.end.line) if match else None
    assert lines == found


def source(first: int, last: int, name: str = "greet") -> dict[str, Any]:
    return {"type": "symbol", "name": name, "kind": 6, "range": place(first, last, 4).wire()}


@pytest.mark.parametrize(
    ("query", "given", "lines"),
    [
        ("", {}, None),
        ("start=2&end=4", {}, Lines(2, 4)),
        ("start=2", {}, Lines(2)),
        ("start=4&end=2", {}, Lines(4, 4)),
        ("start=0&end=0", {}, None),
        ("start=-1&end=x", {}, None),
        ("start=99999999999999999999", {}, None),
        ("", source(6, 6), Lines(7, 7, "greet")),
        ("start=1&end=2", source(6, 8), Lines(7, 9, "greet")),
        ("start=1&end=2", {"type": "symbol", "range": "x"}, Lines(1, 2)),
        ("", {"type": "symbol", "range": {"start": 1}}, None),
        ("", {"type": "file", "path": "x"}, None),
    ],
)
async def test_without_a_server_it_is_what_the_client_said(
    configured: Configured, query: str, given: dict[str, Any], lines: Lines | None
) -> None:
    context = configured(lsp=False)
    assert await lines_of(context.directory, context.directory / "a.py", query, given) == lines


async def test_with_a_server_it_is_the_whole_symbol(
    configured: Configured, user_environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "SECONDS", 60)  # a server starts as long as it takes to where much else runs
    context = configured(lsp=places.basedpyright(user_environ))
    places.write(context.directory, code_of=CODE)
    folder, file = context.directory, context.directory / "code_of.py"

    async def meant(query: str, given: dict[str, Any]) -> Lines | None:
        return await lines_of(folder, file, query, given)

    assert await meant("", source(6, 6)) == Lines(7, 8, "greet")
    assert await meant("", source(0, 0, "Greeter")) == Lines(6, 8, "Greeter"), "it has moved since"
    assert await meant("start=1&end=1", {}) == Lines(1, 3)
    assert await meant("start=4&end=4", {}) == Lines(4, 4)
    assert await lines_of(folder, folder / "gone.py", "", source(6, 6)) == Lines(7, 7, "greet")
