"""The System Context: sources composed, observed once, compared with what was admitted.

What it returns says the one thing to do next; nothing is written here.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.agent.context.source import Source, Unavailable

VERSION = 1


@dataclass(frozen=True, slots=True)
class Admitted:
    """The encoded value of a source, and the text that tells of its going (None: it cannot be told)."""

    value: Any
    removal: str | None = None


Snapshot = Mapping[str, Admitted]
"""By the key of the source."""


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    sources = {key: {"value": one.value, "removal": one.removal} for key, one in snapshot.items()}
    return {"version": VERSION, "sources": sources}


def from_json(stored: Any) -> Snapshot | None:
    """None for what another version wrote, or something else did."""
    try:
        if stored["version"] != VERSION:
            return None
        return {key: Admitted(one["value"], one["removal"]) for key, one in stored["sources"].items()}
    except (AttributeError, KeyError, TypeError):
        return None


SEPARATOR = "\n\n"


class DuplicateKey(ValueError):
    """Two sources of one composition have the same key."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What was admitted is what there is."""


@dataclass(frozen=True, slots=True)
class Updated:
    """One Mid-Conversation System Message to admit, and the snapshot that goes with it."""

    text: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class ReplacementReady:
    """A new epoch is to begin with this baseline. What stands in none is to be reconciled then."""

    baseline: str
    snapshot: Snapshot


@dataclass(frozen=True, slots=True)
class ReplacementBlocked:
    """A new epoch is to begin, but its baseline would be incomplete; `reason` is for people."""

    reason: str


Replacement = ReplacementReady | ReplacementBlocked
Action = Unchanged | Updated | Replacement


@dataclass(frozen=True, slots=True)
class Part:
    """What one source says in a baseline. `value` is what it has loaded."""

    key: str
    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """One source with what its loader answered: a value, None, or Unavailable."""

    source: Source[Any]
    value: Any

    @property
    def present(self) -> bool:
        return self.value is not None and not isinstance(self.value, Unavailable)


class SystemContext:
    """An opaque carrier of zero or more sources, in order."""

    __slots__ = ("_sources",)

    def __init__(self, sources: Sequence[Source[Any]] = ()) -> None:
        self._sources = sources

    @classmethod
    def make(cls, source: Source[Any]) -> SystemContext:
        return cls([source])

    @classmethod
    def combine(cls, contexts: Iterable[SystemContext]) -> SystemContext:
        """All their sources in the caller's order. Raises DuplicateKey."""
        sources = [source for context in contexts for source in context._sources]
        keys: set[str] = set()
        for source in sources:
            if source.key in keys:
                raise DuplicateKey(f"Two context sources have the key {source.key}.")
            keys.add(source.key)
        return cls(sources)

    async def parts(self) -> list[Part]:
        """What stands in a baseline, source by source; one that cannot be read now has its reason."""
        seen = [one for one in await self._observe() if one.value is not None and one.source.baseline]
        return [await _part(one) for one in seen]

    async def initialize(self) -> Replacement:
        """The first baseline; blocked while any source is unavailable."""
        return await _replacement(await self._observe())

    async def replace(self, snapshot: Snapshot) -> Replacement:
        """A fresh baseline in place of an older one; blocked while what was admitted is unavailable."""
        return await _replacement(await self._observe(), snapshot)

    async def reconcile(self, snapshot: Snapshot) -> Action:
        """What has to be done so that the model knows what is true now."""
        seen = await self._observe()
        gone = {key: snapshot[key] for key in snapshot.keys() - _in_force(seen)}
        if any(admitted.removal is None for admitted in gone.values()):
            return await _replacement(seen, snapshot)
        changed = {one.source.key: one for one in seen if one.present and _differs(one, snapshot)}
        if not gone and not changed:
            return Unchanged()
        texts = [await _news(one, snapshot) for one in changed.values()]
        texts += [gone[key].removal or "" for key in sorted(gone)]
        kept = {key: admitted for key, admitted in snapshot.items() if key not in gone}
        return Updated(_joined(texts), kept | {key: _admitted(one) for key, one in changed.items()})

    async def _observe(self) -> list[_Seen]:
        values = await asyncio.gather(*(source.load() for source in self._sources))
        return [_Seen(source, value) for source, value in zip(self._sources, values, strict=True)]


async def _replacement(seen: Sequence[_Seen], admitted: Container[str] | None = None) -> Replacement:
    """`admitted` are the keys that must not be missing; None: all of them."""
    missing = [
        one
        for one in seen
        if isinstance(one.value, Unavailable) and (admitted is None or one.source.key in admitted)
    ]
    if missing:
        return ReplacementBlocked(" ".join(_reasons(missing)))
    present = [one for one in seen if one.present and one.source.baseline]
    texts = [await _baseline(one) for one in present]
    return ReplacementReady(_joined(texts), {one.source.key: _admitted(one) for one in present})


async def _part(one: _Seen) -> Part:
    text = _clean(await _baseline(one)) if one.present else " ".join(_reasons([one]))
    return Part(one.source.key, one.value, text)


def _reasons(missing: Sequence[_Seen]) -> Iterator[str]:
    for one in missing:
        yield one.value.reason or f"Waiting for {one.source.key}, which cannot be read now."


def _in_force(seen: Sequence[_Seen]) -> set[str]:
    """The keys whose admitted value is not known to have gone."""
    return {one.source.key for one in seen if one.value is not None}


def _differs(one: _Seen, snapshot: Snapshot) -> bool:
    known = snapshot.get(one.source.key)
    return known is None or known.value != _encoded(one)


async def _news(one: _Seen, snapshot: Snapshot) -> str:
    """A source that was never admitted gives its baseline, once."""
    known = one.source.key in snapshot or not one.source.baseline
    return one.source.update(one.value) if known else await _baseline(one)


async def _baseline(one: _Seen) -> str:
    text = one.source.baseline(one.value) if one.source.baseline else ""
    return _joined([text, await one.source.once()], "\n") if one.source.once else text


def _admitted(one: _Seen) -> Admitted:
    removal = _clean(one.source.removal(one.value)) if one.source.removal else None
    return Admitted(_encoded(one), removal)


def _encoded(one: _Seen) -> Any:
    """As it will be read back, so that what was kept compares equal."""
    return json.loads(json.dumps(one.source.encode(one.value)))


def _joined(texts: Iterable[str], separator: str = SEPARATOR) -> str:
    return separator.join(cleaned for text in texts if (cleaned := _clean(text)))


def _clean(text: str) -> str:
    """As any database takes it: half characters (of file names) and NUL replaced."""
    return text.encode("utf-8", "replace").decode().replace("\0", "�").strip()
