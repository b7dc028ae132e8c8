"""Work on what others write grows with its length: four times the text, about four times the work.

Each reader gets each text. What is measured is the thread's time on the processor, the best of several, so
that other work on the machine does not count. Work that is done in the other process (core/offload.py) is
bounded there, which `test_offload.py` holds.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from agents.config import frontmatter, jsonc
from agents.llm.errors import _page_text
from agents.toolkit.file_names import printable
from agents.toolkit.shared.replace import whitespace_normalized
from agents.toolkit.template import expand, mentions
from sessions.api.base import BadBody, parsed
from sessions.changes.diffs.hunks import hunks, parse
from sessions.changes.diffs.lines import diff_text
from sessions.core.text import last_lines, prose, shown_output, terminal, visible
from sessions.rendering.blocks import split
from sessions.rendering.diffs.table import show
from sessions.rendering.parts import output_html, part_html
from sessions.transfer.reading.database import parsed as record
from sessions.transfer.writing.forms import _fenced, _line
from sessions.transfer.writing.redact import Redactor
from tests.hostile.texts import TEXTS

pytestmark = pytest.mark.long

SMALL = 4 * 1024
TRIES = 4
NOISE = 0.01
"""Seconds below which a measured time says nothing: quadratic work on the larger text takes far longer."""
GROWTH = 9.0
"""Times as much work for four times the text: 4 is linear, 16 quadratic."""


def _tool(text: str, tool: str = "bash") -> dict[str, Any]:
    state = {
        "status": "completed",
        "input": {"command": text, "filePath": text, "patchText": text, "todos": [{"content": text}]},
        "output": text,
        "title": text,
        "error": text,
        "metadata": {"output": text},
        "time": {"start": 0, "end": 1},
    }
    return {"type": "tool", "tool": tool, "id": "prt_1", "messageID": "msg_1", "callID": "c", "state": state}


def _running(text: str) -> dict[str, Any]:
    part = _tool(text)
    part["state"]["status"] = "running"
    return part


def _json(text: str) -> None:
    body = text.encode("utf-8", "replace")
    for one in (body, json.dumps({"text": text}).encode()):
        with suppress(BadBody):
            parsed(one)


def _table(text: str) -> None:
    data = text.encode("utf-8", "replace")
    show(hunks(data, data[::-1]), "a.txt", "split", uncut=True)


READERS: dict[str, Callable[[str], object]] = {
    "title": visible,
    "prose": prose,
    "terminal": terminal,
    "output": shown_output,
    "last lines": lambda text: last_lines(text, 8),
    "card": lambda text: part_html(_tool(text), "assistant"),
    "card of a patch": lambda text: part_html(_tool(text, "apply_patch"), "assistant"),
    "card of a running call": lambda text: part_html(_running(text), "assistant"),
    "opened card": lambda text: output_html(_tool(text)),
    "opened todos": lambda text: output_html(_tool(text, "todowrite")),
    "prompt": lambda text: part_html({"type": "text", "id": "p", "text": text}, "user"),
    "file name": printable,
    "patch": parse,
    "diff": lambda text: diff_text(text, text[::-1], "a"),
    "diff of bytes": lambda text: hunks(b"", text.encode("utf-8", "replace")),
    "table": _table,
    "JSON": _json,
    "provider's error": _page_text,
    "replacement": lambda text: list(whitespace_normalized(text, " some words ")),
    "configuration": jsonc.Document,
    "front matter": lambda text: frontmatter.Document(f"---\n{text}\n---\n{text}", "agent", "a"),
    "export without secrets": Redactor(["secret"], "/home/me").text,
    "export as Markdown": lambda text: _fenced(text, "") + _line(text),
    "imported record": lambda text: record(text),
    "command": lambda text: (expand(text, "a word"), expand("$1 $ARGUMENTS", text)),
    "mentions": mentions,
    "Markdown, cut into blocks": split,
}


@pytest.mark.parametrize("reader", READERS)
def test_work_grows_with_the_text(reader: str) -> None:
    slow = [name for name, text in TEXTS.items() if _grows(READERS[reader], text)]
    assert slow == []


def _grows(reader: Callable[[str], object], text: Callable[[int], str]) -> bool:
    """Whether four times the text takes much more than four times the work, each time it is tried."""
    few, many = text(SMALL), text(4 * SMALL)
    for _ in range(TRIES):
        longer = _seconds(reader, many)
        if longer < NOISE or longer < GROWTH * _seconds(reader, few):
            return False
    return True


def _seconds(reader: Callable[[str], object], text: str) -> float:
    begin = time.thread_time()
    with suppress(Exception):  # a text that is refused was read too
        reader(text)
    return time.thread_time() - begin
