"""`docs/wire.md`, made of OpenCode's document and ours: `python -m tests.protocol.table` writes it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.targets import OPENCODE_VERSION
from tests.protocol.departures import DIFFERS, FACTS, LEFT_OUT
from tests.protocol.reference import Operation, Reference

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"
HEAD = f"""\
# On the wire

Every operation of the document that OpenCode {OPENCODE_VERSION} serves at `/doc`, and how it stands here.
The table is made of that document and of ours by `python -m tests.protocol.table`;
`tests/protocol/test_table.py` fails when it is no longer true. *done*: the same operation, whose answers
the tests hold against the document's schemas.
"""


def page(theirs: Reference, ours: dict[str, Any]) -> str:
    """The whole page. `ours` is our OpenAPI document."""
    known = {
        (method.upper(), path): details["operationId"]
        for path, methods in ours["paths"].items()
        for method, details in methods.items()
    }
    rows = [_row(operation, known) for operation in theirs.operations]
    return "\n".join([HEAD, *_table(rows), "", *_facts(), *_own(theirs, known)]) + "\n"


def standing(operation: Operation, known: dict[tuple[str, str], str]) -> tuple[str, str]:
    """(done, differs, left out or missing; how or why)."""
    if operation.id in LEFT_OUT:
        return "left out", LEFT_OUT[operation.id]
    if known.get((operation.method, operation.path)) != operation.id:
        return "missing", ""
    if operation.id in DIFFERS:
        return "differs", DIFFERS[operation.id]
    return "done", ""


def _row(operation: Operation, known: dict[tuple[str, str], str]) -> tuple[str, ...]:
    return (f"`{operation.method} {operation.path}`", operation.id, *standing(operation, known))


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    counts = {
        word: sum(row[2] == word for row in rows) for word in ("done", "differs", "left out", "missing")
    }
    yield ", ".join(f"{count} {word}" for word, count in counts.items() if count) + "."
    yield ""
    yield "| operation | id | | how |"
    yield "|---|---|---|---|"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _facts() -> Iterator[str]:
    if FACTS:
        yield "## Where OpenCode's answers contradict its document"
        yield ""
        yield "We follow the answer."
        yield ""
        yield from (f"- {fact}" for fact in FACTS)
        yield ""


def _own(theirs: Reference, known: dict[tuple[str, str], str]) -> Iterator[str]:
    """Operations that only we have."""
    shared = {(operation.method, operation.path) for operation in theirs.operations}
    own = sorted(f"`{method} {path}`" for method, path in known.keys() - shared)
    yield "## Ours alone"
    yield ""
    yield ", ".join(own) + "."


if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")
    django.setup()
    from opencode_web.site.document import document
    from tests.protocol.reference import reference

    PAGE.write_text(page(reference(os.environ), document()), encoding="utf-8")
