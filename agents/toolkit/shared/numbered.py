"""Lines of a file with their numbers, as `read` shows them: `12: text`."""

from __future__ import annotations

import re

_PREFIX = re.compile(r" *(\d+)(?:: ?|\| ?)")


def line(number: int, text: str) -> str:
    return f"{number}: {text}"


def plain(text: str) -> str | None:
    """Text that was copied from `read` without the numbers of its lines; None where it does not begin with
    one, or where lines with numbers are not counted on."""
    given = text.split("\n")
    found = [_PREFIX.match(line) for line in given]
    first = next((match for line, match in zip(given, found, strict=True) if line.strip()), None)
    numbers = [int(match[1]) for match in found if match]
    if first is None or numbers != sorted(set(numbers)):
        return None
    lines = zip(given, found, strict=True)
    return "\n".join(line[match.end() :] if match else line for line, match in lines)
