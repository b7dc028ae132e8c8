"""What the review says of the stop of a tour that somebody is at, and of the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.review.tours import Route, Stop
from sessions.core.sentences import grouped

REST = (
    gettext_noop("Not covered"),
    gettext_noop("What no stop of the tour is about: it was left out, or has come or changed since."),
)


@dataclass(frozen=True, slots=True)
class At:
    """A stop: `number` of `count`, its words, the titles of all; `gone` says what of it is not there any
    more, `outdated` what has changed since the tour was made, each empty for nothing."""

    number: int
    count: int
    title: str
    text: str
    titles: Sequence[str]
    gone: str
    outdated: str
    model: str

    @property
    def previous(self) -> int:
        """0 at the first one."""
        return max(self.number - 1, 0)

    @property
    def next(self) -> int:
        """0 at the last one."""
        return self.number + 1 if self.number < self.count else 0


def at(route: Route, number: int) -> At:
    """A tour of what is not there any more may have no stop; that is number 0."""
    stop = route.stops[number - 1] if number else Stop("", "", ())
    words = (stop.title, stop.text) if stop.title or not number else (gettext(REST[0]), gettext(REST[1]))
    return At(
        number,
        len(route.stops),
        *words,
        [one.title or gettext(REST[0]) for one in route.stops],
        _gone(stop.gone),
        _outdated(route),
        route.tour.model,
    )


def _gone(count: int) -> str:
    if not count:
        return ""
    words = ngettext(
        "%(count)s hunk of this stop is not there as it was.",
        "%(count)s hunks of this stop are not there as they were.",
        count,
    )
    return words % {"count": grouped(count)}


def _outdated(route: Route) -> str:
    """One sentence or two."""
    if not route.outdated:
        return ""
    said = []
    if route.fresh:
        words = ngettext(
            "%(count)s hunk is new or changed.", "%(count)s hunks are new or changed.", route.fresh
        )
        said.append(words % {"count": grouped(route.fresh)})
    if route.gone:
        words = ngettext("%(count)s hunk is gone.", "%(count)s hunks are gone.", route.gone)
        said.append(words % {"count": grouped(route.gone)})
    return " ".join(said)
