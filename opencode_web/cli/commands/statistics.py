"""`opencode-web stats`: what sessions have used, summed up from their messages."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

from opencode_web.cli.terminal import plain, say
from sessions.core.db import in_db_sync
from sessions.core.models import Message, Part
from sessions.core.store import projects

WIDTH = 56
KINDS = ("input", "output", "reasoning", "cache read", "cache write")


@dataclass
class Sums:
    """Tokens by kind; `by_session` are all tokens of a session, `by_model` (answers, tokens, US dollars)."""

    messages: int = 0
    cost: float = 0.0
    days: set[date] = field(default_factory=set)
    tokens: Counter[str] = field(default_factory=Counter)
    by_session: Counter[str] = field(default_factory=Counter)
    by_model: dict[str, tuple[int, int, float]] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)

    def add(self, session_id: str, moment: int, data: dict[str, Any]) -> None:
        self.messages += 1
        self.days.add(datetime.fromtimestamp(moment / 1000).date())
        counts = _tokens(data.get("tokens") or {})
        total, cost = sum(counts.values()), float(data.get("cost") or 0)
        self.cost += cost
        self.tokens.update(counts)
        self.by_session[session_id] += total
        if name := data.get("modelID"):
            key = f"{data.get('providerID', '')}/{name}"
            answers, known, dollars = self.by_model.get(key, (0, 0, 0.0))
            self.by_model[key] = (answers + 1, known + total, dollars + cost)


def stats(arguments: argparse.Namespace, directory: Path) -> None:
    sums = in_db_sync(_collect, _project(arguments.project, directory), _since(arguments.days))
    _box("OVERVIEW", _overview(sums))
    _box("COST & TOKENS", _costs(sums))
    if arguments.models is not None:
        _box("MODELS", list(_models(sums, arguments.models)))
    used = sums.tools.most_common(arguments.tools)
    if used:
        _box("TOOL USAGE", [(name, str(count)) for name, count in used])


def _project(given: str | None, directory: Path) -> str | None:
    return in_db_sync(projects.project_of, directory, look=True).id if given == "" else given


def _since(days: int | None) -> int:
    if days is None:
        return 0
    midnight = datetime.combine(datetime.now().date() - timedelta(days=days), datetime.min.time())
    return int(midnight.timestamp() * 1000)


def _collect(project_id: str | None, since: int) -> Sums:
    sums = Sums()
    shown: dict[str, Any] = {"session__time_deleted": None, "time_created__gte": since}
    if project_id is not None:
        shown["session__project_id"] = project_id
    rows = Message.objects.filter(**shown).values_list("session_id", "time_created", "data")
    for row in rows.iterator(chunk_size=500):
        sums.add(*row)
    calls = Part.objects.filter(type="tool", message__in=Message.objects.filter(**shown))
    sums.tools.update(name for name in calls.values_list("data__tool", flat=True).iterator() if name)
    return sums


def _tokens(told: dict[str, Any]) -> Counter[str]:
    cache = told.get("cache") or {}
    given = {**told, "cache read": cache.get("read"), "cache write": cache.get("write")}
    return Counter({kind: int(given.get(kind) or 0) for kind in KINDS})


def _overview(sums: Sums) -> list[tuple[str, str]]:
    return [
        ("Sessions", str(len(sums.by_session))),
        ("Messages", str(sums.messages)),
        ("Days", str(len(sums.days))),
    ]


def _costs(sums: Sums) -> list[tuple[str, str]]:
    each = list(sums.by_session.values())
    return [
        ("Total cost", f"${sums.cost:.2f}"),
        ("Cost a day", f"${sums.cost / max(1, len(sums.days)):.2f}"),
        ("Tokens a session", _short(sum(each) / max(1, len(each)))),
        ("Median tokens a session", _short(median(each) if each else 0)),
        *((kind.capitalize(), _short(sums.tokens[kind])) for kind in KINDS),
    ]


def _models(sums: Sums, count: int) -> Iterator[tuple[str, str]]:
    """The most used first; `count` 0 shows all."""
    ranked = sorted(sums.by_model.items(), key=lambda item: -item[1][1])
    for name, (answers, tokens, dollars) in ranked[: count or None]:
        yield name, f"{answers} × answered, {_short(tokens)} tokens, ${dollars:.2f}"


def _short(count: float) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "K")):
        if count >= size:
            return f"{count / size:.1f}{letter}"
    return f"{count:.0f}"


def _box(title: str, rows: list[tuple[str, str]]) -> None:
    say(f"┌{'─' * WIDTH}┐\n│{title:^{WIDTH}}│\n├{'─' * WIDTH}┤")
    for name, value in rows:
        room = max(1, WIDTH - 2 - len(value))
        say(f"│ {plain(name)[: room - 1]:<{room}}{value} │")
    say(f"└{'─' * WIDTH}┘")
