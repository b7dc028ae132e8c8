"""A batch of events that came together, made smaller: what a later event makes needless is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sessions import bus


def compact(events: Sequence[bus.Event]) -> list[bus.Event]:
    """The same effect in fewer events: last updates only, adjacent deltas of a part as one."""
    return _merged_deltas(_superseded_dropped(events))


def _merged_deltas(events: Sequence[bus.Event]) -> list[bus.Event]:
    merged: list[bus.Event] = []
    for event in events:
        if merged and _follows(merged[-1], event):
            before = merged[-1].properties
            together = before | {"delta": before["delta"] + event.properties["delta"]}
            merged[-1] = replace(merged[-1], properties=together)
        else:
            merged.append(event)
    return merged


def _follows(before: bus.Event, event: bus.Event) -> bool:
    if not before.type == event.type == "message.part.delta":
        return False
    first, second = before.properties, event.properties
    ends_at = first["offset"] + len(first["delta"])
    return bool(first["partID"] == second["partID"] and ends_at == second["offset"])


def _superseded_dropped(events: Sequence[bus.Event]) -> list[bus.Event]:
    """Without the events of a part or message that a later update of the same one makes needless."""
    kept: list[bus.Event] = []
    settled: set[str] = set()
    for event in reversed(events):
        key = _subject(event)
        if key in settled and event.type in ("message.updated", "message.part.updated", "message.part.delta"):
            continue
        kept.append(event)
        if event.type in ("message.updated", "message.part.updated"):
            settled.add(key)
    return kept[::-1]


def _subject(event: bus.Event) -> str:
    properties = event.properties
    match event.type:
        case "message.part.updated":
            return str(properties["part"]["id"])
        case "message.part.delta":
            return str(properties["partID"])
        case "message.updated":
            return str(properties["info"]["id"])
    return ""
