"""The secrets that the configuration of a folder holds, so that what is given away can be freed of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agents.configuration import load, written

_GROUPS = frozenset(("headers", "environment", "env"))
"""Keys below which every value counts: what a server is sent or started with."""
_NAME = re.compile(
    r"(?i).*(?:api[_-]?key|access[_-]?key|secret|token|passw|credential|auth|private[_-]?key|cookie|dsn|[_-]key$)"
)
_ORDINARY = re.compile(
    r"[A-Za-z]{1,12}|\d{1,12}(?:\.\d+)*|(?:application|text|image|audio|video|\*)/[\w.+*-]+|[.~]?(?:/[\w.-]+)+/?"
)
"""Words, numbers, versions, media types, paths: black, they would hide what is no secret. Under a telling
name it is one all the same."""
_REFERENCES = re.compile(r"(?:\{(?:env|file):[^}]*\})+")


def values(directory: str) -> list[str]:
    """Of what counts in a folder, references replaced, and of its files as they are written: what waits for
    trust is a secret as well. Reads files when they have changed."""
    place = Path(directory)
    loaded = load(place).config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    found = [*_values(loaded), *(value for file in written(place) for value in _values(file.values))]
    return list(dict.fromkeys(found))


def _values(data: Any, grouped: bool = False, named: bool = False) -> Iterator[str]:
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield from _values(value, grouped or name in _GROUPS, named or bool(_NAME.match(str(name))))
    elif isinstance(data, list):
        for item in data:
            yield from _values(item, grouped, named)
    elif isinstance(data, str) and (grouped or named) and not _REFERENCES.fullmatch(data):
        # `Bearer …` is printed without its scheme as well.
        parts = dict.fromkeys((data.strip(), *data.split()))
        yield from (part for part in parts if named or not _ORDINARY.fullmatch(part))
