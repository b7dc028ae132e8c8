"""Prometheus' text format, version 0.0.4."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from typing import Literal

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST = 200
"""Samples of one family; what would be one more is counted under the label values `other`."""

Labels = tuple[tuple[str, str], ...]


class Family:
    """One metric with its samples by label. From any thread."""

    def __init__(self, name: str, kind: Literal["counter", "gauge"], says: str) -> None:
        self.name = name
        self._kind = kind
        self._says = says
        self._values: dict[Labels, float] = {}
        self._lock = threading.Lock()

    def add(self, amount: float = 1, **labels: str) -> None:
        with self._lock:
            key = self._key(labels)
            self._values[key] = self._values.get(key, 0) + amount

    def put(self, value: float, **labels: str) -> None:
        with self._lock:
            self._values[self._key(labels)] = value

    def _key(self, labels: dict[str, str]) -> Labels:
        key = tuple(labels.items())
        if key in self._values or len(self._values) < MOST:
            return key
        return tuple((name, "other") for name in labels)

    def lines(self) -> Iterator[str]:
        yield f"# HELP {self.name} {self._says}"
        yield f"# TYPE {self.name} {self._kind}"
        with self._lock:
            samples = list(self._values.items())
        for labels, value in samples:
            yield f"{self.name}{_labels(labels)} {value:.17g}"


def exposition(families: Iterable[Family]) -> str:
    return "\n".join(line for family in families for line in family.lines()) + "\n"


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
