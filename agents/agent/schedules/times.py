"""When a schedule is due: once at a time of day somewhere, or again and again by a cron expression. Pure.

A cron expression is read as Debian's cron does, with one difference of clocks as it has it: what is due at a
time of day that is left out in spring is due right after the gap, and what would come twice in autumn comes
once; what is due every so many minutes or hours goes by the hours that pass.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError
from django.utils.translation import gettext

from sessions.core.models import Schedule

Kind = Schedule.Kind
GRACE = 120_000
"""Milliseconds after which something that was due counts as missed."""
MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_MINUTE = timedelta(minutes=1)
_DAILY = re.compile(r"(\d{1,2}) (\d{1,2}) \* \* ([\d,*]+)")
_TIME = re.compile(r"(\d{1,2}):(\d{2})")
_ZONES = "zoneinfo/"


class BadTime(ValueError):
    """It says no time; the text is for people."""


@dataclass(frozen=True, slots=True)
class When:
    """As a row has it (`Schedule`)."""

    kind: str
    rule: str
    zone: str

    @classmethod
    def of(cls, schedule: Schedule) -> When:
        return cls(schedule.kind, schedule.rule, schedule.zone)

    @property
    def by_clock(self) -> bool:
        return self.kind in (Kind.ONCE, Kind.CRON)

    def following(self, after: int) -> int | None:
        """The first time after a moment (ms); None for never, or not by the clock. Raises BadTime."""
        return next((_ms(time) for time in self._times(after)), None)

    def upcoming(self, after: int, count: int) -> list[datetime]:
        """The next times, in its zone. Raises BadTime."""
        return list(islice(self._times(after), count))

    def last(self, after: int, until: int) -> int | None:
        """The last time after a moment and not after another one. Raises BadTime."""
        if self.kind != Kind.CRON:
            found = self.following(after)
            return found if found is not None and found <= until else None
        zone = zone_of(self.zone)
        # One that reads backwards need not find the last one around a change of clocks: begin well before it.
        begin = _at(until, zone)
        for before in islice(_cron(self.rule, begin + _MINUTE, reverse=True), 3):
            begin = before
        since = max(_ms(begin) - 1, after) if _ms(begin) <= until else after
        found = None
        for time in self._times(since):
            if _ms(time) > until:
                break
            found = _ms(time)
        return found

    def _times(self, after: int) -> Iterator[datetime]:
        """Those after a moment, each once, in their order."""
        zone = zone_of(self.zone)
        if self.kind == Kind.ONCE:
            time = _once(self.rule, zone)
            yield from [time] if _ms(time) > after else []
        elif self.kind == Kind.CRON:
            last = after
            for time in _cron(self.rule, _at(after, zone)):
                if _ms(time) > last:
                    last = _ms(time)
                    yield time


def zone_of(name: str) -> ZoneInfo:
    """Raises BadTime."""
    if name not in zones():
        raise BadTime(gettext("There is no time zone %(name)s here.") % {"name": name or "?"})
    return ZoneInfo(name)


@cache
def zones() -> frozenset[str]:
    """The names of all time zones, but for those that are there for the system only."""
    return frozenset(name for name in available_timezones() if name[:1].isupper() and name != "Factory")


@cache
def local_zone() -> str:
    """That of this machine, by its name; UTC where nothing says it."""
    named = os.environ.get("TZ", "").removeprefix(":")
    linked = os.path.realpath("/etc/localtime").rpartition(_ZONES)[2]
    found = (named, linked, _read(Path("/etc/timezone")))
    return next((name for name in found if name in zones()), "UTC")


def _read(path: Path) -> str:
    try:
        return path.read_text("ascii", "replace").strip()
    except OSError:
        return ""


def expression(text: str) -> str:
    """A cron expression of five fields, its short names spelt out. Raises BadTime."""
    given = " ".join(text.split())
    fields = MACROS.get(given.lower(), given)
    if len(fields.split()) != 5:
        raise BadTime(
            gettext(
                "A cron expression has five fields: minute, hour, day of the month, month, day of the week."
            )
        )
    try:
        next(CronSim(fields, datetime(2026, 1, 1)))
    except CronSimError as error:
        raise BadTime(gettext("This is no cron expression: %(error)s.") % {"error": error}) from error
    except StopIteration as error:
        raise BadTime(gettext("This time never comes.")) from error
    return fields


def daily(time: str, days: str = "*") -> str:
    """A time of day (`09:30`) as a cron expression, on all days of the week or some (`1,2,5`; 0 is Sunday).
    Raises BadTime."""
    found = _TIME.fullmatch(time.strip())
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise BadTime(gettext("Write a time of day as 09:30."))
    return expression(f"{int(found[2])} {int(found[1])} * * {days}")


def as_daily(rule: str) -> tuple[str, str] | None:
    """The time of day and the days of the week of an expression that says no more."""
    found = _DAILY.fullmatch(rule)
    return (f"{int(found[2]):02}:{int(found[1]):02}", found[3]) if found else None


def once(text: str) -> str:
    """A day and a time of day, as a form has it (`2026-12-01T09:30`). Raises BadTime."""
    try:
        time = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise BadTime(gettext("Write a day and a time as 2026-12-01T09:30.")) from error
    if time.tzinfo is not None:
        raise BadTime(gettext("Name the time zone beside the time, not in it."))
    return time.isoformat(timespec="minutes")


def _once(rule: str, zone: ZoneInfo) -> datetime:
    local = datetime.fromisoformat(once(rule))
    while _at(_ms(local.replace(tzinfo=zone)), zone).replace(tzinfo=None, fold=0) != local:
        local += _MINUTE  # in the gap of a change of clocks
    return local.replace(tzinfo=zone)


def _cron(rule: str, begin: datetime, *, reverse: bool = False) -> Iterator[datetime]:
    return CronSim(expression(rule), begin, reverse)


def _at(milliseconds: int, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(milliseconds // 1000, UTC).astimezone(zone)


def _ms(time: datetime) -> int:
    return int(time.timestamp()) * 1000
