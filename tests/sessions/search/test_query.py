"""What is typed into the search."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sessions.search.query import parse, pieces

NOW = datetime(2026, 3, 15, 12, tzinfo=UTC)


def test_words_phrases_and_filters() -> None:
    query = parse('login "is not" file:src/x.py ran:"npm test" HAS:error agent:build project:this', NOW)
    assert [term.text for term in query.terms] == ["login", "is not"]
    assert [(name, term.text) for name, term in query.facets] == [
        ("file", "src/x.py"),
        ("ran", "npm test"),
        ("has", "error"),
        ("agent", "build"),
    ]
    assert query.project == "this"
    assert not query.problems


def test_what_is_only_begun_filters_nothing() -> None:
    assert parse("file:", NOW).is_empty
    assert pieces('word file: "open') == [("", "word"), ("file", ""), ("", "open")]
    assert [term.text for term in parse("other:thing http://x", NOW).terms] == ["other:thing", "http://x"]


def milliseconds(*date: int, zone: timezone = UTC) -> int:
    return int(datetime(*date, tzinfo=zone).timestamp() * 1000)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026", milliseconds(2026, 1, 1)),
        ("2026-02", milliseconds(2026, 2, 1)),
        ("2026-02-03", milliseconds(2026, 2, 3)),
        ("today", milliseconds(2026, 3, 15)),
        ("yesterday", milliseconds(2026, 3, 14)),
        ("7d", milliseconds(2026, 3, 8)),
        ("2w", milliseconds(2026, 3, 1)),
    ],
)
def test_dates(value: str, moment: int) -> None:
    assert parse(f"after:{value}", NOW).after == moment
    assert parse(f"before:{value}", NOW).before == moment


def test_days_begin_where_the_person_is() -> None:
    zone = timezone(timedelta(hours=5))
    assert parse("after:2026-02-03", NOW.astimezone(zone)).after == milliseconds(2026, 2, 3, zone=zone)


@pytest.mark.parametrize("typed", ["after:soon", "before:2026-13-40", "after:0", "->"])
def test_what_is_not_understood_is_said(typed: str) -> None:
    query = parse(typed, NOW)
    assert query.is_empty
    assert query.problems
