"""Places as people and models count them, from 1 and in characters, and as language servers do, from 0 and in
UTF-16 code units."""

from __future__ import annotations

from collections.abc import Sequence

from agents.servers.lsp.types import Position


def lines_of(content: bytes) -> list[str]:
    """The lines of a file as language servers part them."""
    text = content.decode("utf-8-sig", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def shown(position: Position, lines: Sequence[str] = ()) -> tuple[int, int]:
    """Line and column for a person; `lines` are those of the file, where they are known."""
    line = lines[position.line] if position.line < len(lines) else ""
    before = line.encode("utf-16-le", "surrogatepass")[: 2 * position.character]
    beyond = len(before) // 2 - len(before.decode("utf-16-le", "replace"))
    return position.line + 1, position.character - beyond + 1


def meant(line: int, column: int, lines: Sequence[str]) -> Position:
    """The place that a person calls `line` and `column`."""
    text = lines[line - 1] if line <= len(lines) else ""
    before = text[: column - 1]
    return Position(line - 1, len(before.encode("utf-16-le", "surrogatepass")) // 2)
