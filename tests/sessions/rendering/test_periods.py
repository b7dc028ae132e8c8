"""Sessions are listed by days as the person counts them."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from sessions.rendering.periods import period_of, zone_of

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp() * 1000)


NOW = at("2026-03-29T12:00")


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("2026-03-30T09:00", "Today"),
        ("2026-03-29T00:00", "Today"),
        ("2026-03-28T23:59", "Yesterday"),
        ("2026-03-27T23:59", "Last 7 days"),
        ("2026-03-22T00:00", "Last 7 days"),
        ("2026-03-21T23:59", "March"),
        ("2026-02-28T23:59", "February"),
        ("2025-12-31T23:59", "December 2025"),
    ],
)
def test_a_moment_has_its_period(moment: str, name: str) -> None:
    assert period_of(at(moment), NOW, BERLIN).name == name


def test_periods_meet_at_midnight_where_the_person_is() -> None:
    names = ("2026-03-29T01:00", "2026-03-28T01:00", "2026-03-23T01:00", "2026-03-02T01:00")
    today, yesterday, week, march = (period_of(at(moment), NOW, BERLIN) for moment in names)
    assert today.end == at("2026-03-30T00:00")
    assert today.begin == yesterday.end == at("2026-03-29T00:00")
    assert today.end - today.begin == 23 * 3_600_000
    assert yesterday.begin == week.end
    assert week.begin == march.end
    assert march.begin == at("2026-03-01T00:00")


@pytest.mark.parametrize("name", ["", "Nowhere/City", "../../etc/passwd", "Europe", "\0"])
def test_a_zone_that_is_not_known_is_utc(name: str) -> None:
    assert str(zone_of(name)) == "UTC"
