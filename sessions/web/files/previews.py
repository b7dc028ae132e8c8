"""Text files as what they mean: a table, a notebook."""

from __future__ import annotations

import base64
import binascii
import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from sessions.rendering.blocks import code_block, render_whole, words
from sessions.rendering.highlight import highlight
from sessions.rendering.html import html

MOST_ROWS = 1000
MOST_COLUMNS = 100
MOST_CELLS = 500
_MOST_OUTPUT = 20_000
"""Characters of one output of a notebook."""

_PICTURES = ("image/png", "image/jpeg", "image/gif")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""ECMA-48, 8.3.117 (select graphic rendition)."""


def table(text: str, path: str) -> SafeString:
    """Comma or tab separated values, the first line as the head."""
    delimiter = "\t" if path.lower().endswith(".tsv") else _delimiter(text)
    rows: list[list[str]] = []
    problem = ""
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            rows.append(row[:MOST_COLUMNS])
            if len(rows) > MOST_ROWS:
                break
    except csv.Error as error:
        problem = str(error)
    return html(
        "files/table.html",
        head=rows[0] if rows else [],
        rows=rows[1:MOST_ROWS],
        cut=len(rows) > MOST_ROWS,
        most=MOST_ROWS,
        problem=problem,
    )


def _delimiter(text: str) -> str:
    first = text[: text.find("\n")] if "\n" in text else text
    return max(",;\t|", key=first.count)


@dataclass(frozen=True, slots=True)
class Output:
    """`picture` is a `data:` address; `text` what is there besides."""

    text: str = ""
    picture: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """`shown` is safe HTML."""

    kind: str
    shown: SafeString
    count: str = ""
    outputs: Sequence[Output] = ()


def notebook(text: str) -> SafeString:
    """A notebook of Jupyter (nbformat 4) with its outputs; nothing in it runs, and HTML is left out."""
    try:
        given = json.loads(text)
        language = str(given.get("metadata", {}).get("kernelspec", {}).get("language") or "python")
        cells = [_cell(cell, language) for cell in given["cells"][:MOST_CELLS]]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        return html(
            "files/notebook.html",
            cells=[],
            problem=gettext("This is no notebook: %(error)s") % {"error": error},
        )
    return html("files/notebook.html", cells=cells, cut=len(given["cells"]) > MOST_CELLS, most=MOST_CELLS)


def _cell(cell: Mapping[str, Any], language: str) -> Cell:
    source, kind = _joined(cell.get("source", "")), cell.get("cell_type")
    if kind == "markdown":
        return Cell("markdown", mark_safe(render_whole(source)))  # noqa: S308 (the renderer escapes)
    if kind != "code":
        return Cell("raw", mark_safe(code_block(highlight(source, ""), "", words())))  # noqa: S308 (as above)
    shown = mark_safe(code_block(highlight(source, language), language, words()))  # noqa: S308 (as above)
    count = cell.get("execution_count")
    return Cell("code", shown, str(count) if count else "", list(_outputs(cell.get("outputs", []))))


def _outputs(given: Sequence[Mapping[str, Any]]) -> Iterator[Output]:
    for output in given:
        if output.get("output_type") == "stream":
            yield Output(_text(output.get("text", "")))
        elif output.get("output_type") == "error":
            yield Output(_text("\n".join(output.get("traceback", []))), failed=True)
        else:
            data = output.get("data", {})
            picture = next(
                (f"data:{kind};base64,{found}" for kind in _PICTURES if (found := _picture(data, kind))), ""
            )
            yield Output("" if picture else _text(data.get("text/plain", "")), picture)


def _picture(data: Mapping[str, Any], kind: str) -> str:
    given = "".join(_joined(data.get(kind, "")).split())
    try:
        return given if base64.b64decode(given, validate=True) else ""
    except (binascii.Error, ValueError):
        return ""


def _text(given: str | Sequence[str]) -> str:
    return _COLOURS.sub("", _joined(given))[:_MOST_OUTPUT]


def _joined(given: str | Sequence[str]) -> str:
    return given if isinstance(given, str) else "".join(given)
