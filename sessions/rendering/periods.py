"""The periods that sessions are listed under, as days begin where the person is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext, pgettext

WEEK = 7


@dataclass(frozen=True, slots=True)
class Period:
    """`begin` and `end` are milliseconds, `end` the first after it; what is used comes to `today`."""

    name: str
    begin: int
    end: int
    today: bool = False


def zone_of(name: str) -> tzinfo:
    """The time zone of this name, or UTC for one that is not known."""
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError, OSError):
        return UTC


def period_of(moment: int, now: int, zone: tzinfo) -> Period:
    """Today (and whatever a wrong clock says is later), yesterday, the week before, or a month."""
    today = _day(now, zone)
    day = min(_day(moment, zone), today)
    week = today - timedelta(days=WEEK)
    if day == today:
        return _period(gettext("Today"), today, today + timedelta(days=1), zone, today=True)
    if day == today - timedelta(days=1):
        return _period(gettext("Yesterday"), day, today, zone)
    if day >= week:
        return _period(gettext("Last 7 days"), week, today - timedelta(days=1), zone)
    first = day.replace(day=1)
    after = (first + timedelta(days=31)).replace(day=1)
    # Translators: a month and its year, in the letters of Django's filter `date`.
    name = date_format(first, "F" if first.year == today.year else pgettext("format of a date", "F Y"))
    return _period(name, first, min(after, week), zone)


def _day(moment: int, zone: tzinfo) -> date:
    return datetime.fromtimestamp(moment / 1000, zone).date()


def _period(name: str, begin: date, end: date, zone: tzinfo, *, today: bool = False) -> Period:
    return Period(name, _start(begin, zone), _start(end, zone), today)


def _start(day: date, zone: tzinfo) -> int:
    return int(datetime.combine(day, clock.min, zone).timestamp() * 1000)
