"""JSON of a request: what RFC 8259 allows, and of that what can be kept and sent again."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

DEEPEST = 200
"""Lists and objects within each other; Python's `json` fails at about 1000, writing earlier than reading."""
MOST = 50_000
"""Values, keys among them: a million take a second, in which nobody else is answered."""
_LARGEST = 2**63 - 1
"""What the database takes."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[,\[{]', re.DOTALL)


class BadBody(ValueError):
    """The text says why a body is not taken."""


def parsed(body: bytes) -> Any:
    """Raises BadBody: for what is no JSON in UTF-8, for numbers that are too large, for NaN and Infinity
    (Python would write them as they are, and no client could read the answer), for half a character (a lone
    surrogate, which no database and no model takes), and for what has too many values or is nested too deep.
    """
    if _is_more_than(body, MOST):
        raise BadBody(f"The body has more than {MOST:,} values")
    try:
        data = json.loads(body.decode(), parse_int=_integer, parse_float=_number, parse_constant=_number)
        if body.count(b"[") + body.count(b"{") > DEEPEST and _is_deep(data):
            raise BadBody(f"The body is nested more than {DEEPEST} levels deep")
        if _HALF.search(body):
            json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadBody("The body has half a character in it (a lone surrogate)") from error
    except UnicodeDecodeError as error:
        raise BadBody(f"The body is not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise BadBody(f"The body is not JSON: {error}") from error
    except RecursionError as error:
        raise BadBody(f"The body is nested more than {DEEPEST} levels deep") from error
    return data


def _is_more_than(body: bytes, most: int) -> bool:
    """Whether it has more values than so many, looking no further: a long text with commas is one."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) <= most:
        return False
    return next(islice(_TOKEN.finditer(body), 2 * most, None), None) is not None


def _integer(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _LARGEST:
        raise BadBody(f"The number {text[:20]}… is too large")
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise BadBody(f"{text[:20]} is no number that JSON has")
    return value


def _is_deep(data: Any) -> bool:
    level = [data]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return False
    return True


def _inner(data: Any) -> Iterator[Any]:
    """The lists and objects directly in one."""
    values = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return (value for value in values if isinstance(value, (dict, list)))
