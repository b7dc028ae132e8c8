"""When a schedule is due: cron expressions and single times, in time zones, around changes of clocks."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.agent.schedules import times
from agents.agent.schedules.times import BadTime, When

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"
DAY = 24 * 3600 * 1000


def ms(*when: int, zone: str = "UTC", fold: int = 0) -> int:
    return int(datetime(*when, tzinfo=ZoneInfo(zone), fold=fold).timestamp() * 1000)  # type: ignore[arg-type, misc]


def due(rule: str, zone: str, after: int, count: int = 3) -> list[str]:
    """As clocks there show it, with what they are ahead of UTC."""
    found = When("cron", rule, zone).upcoming(after, count)
    return [time.strftime("%d %H:%M %z") for time in found]


def test_a_time_that_is_left_out_in_spring_comes_right_after_the_gap() -> None:
    before = ms(2026, 3, 28, 12)
    assert due("30 2 * * *", BERLIN, before) == ["29 03:00 +0200", "30 02:30 +0200", "31 02:30 +0200"]
    assert due("0 9 * * *", BERLIN, before) == ["29 09:00 +0200", "30 09:00 +0200", "31 09:00 +0200"]
    assert due("30 2 * * *", NEW_YORK, ms(2026, 3, 7, 12))[0] == "08 03:00 -0400"


def test_a_time_that_comes_twice_in_autumn_is_due_once() -> None:
    before = ms(2026, 10, 24, 12)
    assert due("30 2 * * *", BERLIN, before) == ["25 02:30 +0200", "26 02:30 +0100", "27 02:30 +0100"]
    between = ms(2026, 10, 25, 2, 40, zone=BERLIN)
    assert due("30 2 * * *", BERLIN, between, 1) == ["26 02:30 +0100"]
    again = ms(2026, 10, 25, 2, 10, zone=BERLIN, fold=1)
    assert due("30 2 * * *", BERLIN, again, 1) == ["26 02:30 +0100"]


def test_what_is_due_every_so_many_minutes_goes_by_the_hours_that_pass() -> None:
    spring = When("cron", "*/30 * * * *", BERLIN).upcoming(ms(2026, 3, 28, 23, 59), 6)
    autumn = When("cron", "*/30 * * * *", BERLIN).upcoming(ms(2026, 10, 24, 23, 59), 8)
    for found in (spring, autumn):
        passed = [time.astimezone(UTC) for time in found]
        assert all(after - before == timedelta(minutes=30) for before, after in pairwise(passed))


def test_a_single_time_in_the_gap_and_in_the_hour_that_comes_twice() -> None:
    assert When("once", "2026-03-29T02:30", BERLIN).following(0) == ms(2026, 3, 29, 1)
    assert When("once", "2026-10-25T02:30", BERLIN).following(0) == ms(2026, 10, 25, 0, 30)
    assert When("once", "2026-12-01T09:00", NEW_YORK).following(ms(2026, 12, 1, 14)) is None


RULES = ["30 2 * * *", "*/15 * * * *", "0 */2 * * *", "15 1,2,3 * * *", "0 9 * * 1-5"]
CHANGES = [(3, 8), (3, 29), (4, 5), (9, 6), (10, 25), (11, 1)]
"""Days of 2026 at which clocks change somewhere."""


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, "America/Santiago", "Asia/Kolkata", "UTC"])
@pytest.mark.parametrize("rule", RULES)
def test_the_last_time_is_the_last_of_those_before(rule: str, zone: str) -> None:
    when, begin = When("cron", rule, zone), ms(2026, 2, 1)
    for month, day in CHANGES:
        start = ms(2026, month, day) - DAY
        every = [int(time.timestamp() * 1000) for time in when.upcoming(start - 5 * DAY, 900)]
        assert every == sorted(set(every))
        for moment in range(start, start + 2 * DAY, 17 * 60_000):
            at = bisect_right(every, moment)
            assert when.last(begin, moment) == every[at - 1]
            assert when.following(moment) == every[at]


@given(st.integers(ms(2026, 1, 1), ms(2027, 1, 1)), st.integers(1, 400))
def test_years_of_sleep_are_passed_at_once(moment: int, days: int) -> None:
    when = When("cron", "* * * * *", BERLIN)
    assert when.last(moment - days * DAY, moment) == moment - moment % 60_000


def test_nothing_is_last_where_nothing_was_due() -> None:
    when = When("cron", "0 9 * * *", "UTC")
    assert when.last(ms(2026, 1, 1, 9), ms(2026, 1, 2, 8, 59)) is None
    assert When("hook", "", "UTC").following(0) is None


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("0 9 * *", "five fields"),
        ("0 0 9 * * *", "five fields"),
        ("61 * * * *", "Bad minute"),
        ("0 0 31 2 *", "no cron expression"),
        ("* * * * * ; rm", "five fields"),
    ],
)
def test_what_is_no_cron_expression(rule: str, words: str) -> None:
    with pytest.raises(BadTime, match=words):
        times.expression(rule)


def test_short_names_and_times_of_day() -> None:
    assert times.expression("@Daily") == "0 0 * * *"
    assert times.expression(" 0  9 * * MON ") == "0 9 * * MON"
    assert times.daily("9:05", "1,3") == "5 9 * * 1,3"
    assert times.as_daily("5 9 * * 1,3") == ("09:05", "1,3")
    assert times.as_daily("5 9 1 * *") is None
    for wrong in ("24:00", "9", "09:60", ""):
        with pytest.raises(BadTime, match="time of day"):
            times.daily(wrong)


def test_zones_by_their_names() -> None:
    assert times.local_zone() in times.zones()
    for wrong in ("", "Berlin", "../etc/passwd", "posixrules"):
        with pytest.raises(BadTime, match="no time zone"):
            times.zone_of(wrong)
    with pytest.raises(BadTime, match="beside the time"):
        times.once("2026-12-01T09:00+01:00")
