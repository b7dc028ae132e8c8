"""News in words, for one message to a person. Nothing of what a conversation says is in it but its title."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, ngettext, override
from django.utils.translation.trans_null import gettext_noop

from sessions.core.ids import ascending, now
from sessions.core.models import Notifier
from sessions.core.store.notifiers import News
from sessions.core.text import visible

TEST = "test"
LONGEST_TITLE = 120
MOST_LINES = 12
"""News that a message names; it counts the others."""

_KINDS = {
    "asks": gettext_noop("Waits for you"),
    "done": gettext_noop("Done"),
    "failed": gettext_noop("Failed"),
}
_GOALS = {
    "done": gettext_noop("Goal reached"),
    "blocked": gettext_noop("Goal blocked"),
    "spent": gettext_noop("Budget of the goal is used up"),
    "paused": gettext_noop("Goal paused"),
}


@dataclass(frozen=True, slots=True)
class Message:
    """`id` is the same at every try; `tag` is of what happened, and replaces what is shown of the same.
    `asks`: somebody is waited for. `wire` is what programs get."""

    id: str
    title: str
    text: str
    url: str
    tag: str
    asks: bool
    wire: dict[str, Any]


def message(id: str, news: Sequence[News], notifier: Notifier) -> Message:
    """What a notifier says of one or of several."""
    with override(notifier.language or None):
        count = sum(1 + one.more for one in news)
        lines = [_line(one) for one in news]
        if count == 1:
            title, text = _kind(news[0]), _where(news[0])
        else:
            title = ngettext("%(count)s piece of news", "%(count)s pieces of news", count) % {"count": count}
            left = count - len(lines[:MOST_LINES])
            more = [gettext("and %(count)s more") % {"count": left}] if left else []
            text = "\n".join([*lines[:MOST_LINES], *more])
        sessions = {one.session for one in news}
        url = _link(news[0], notifier) if len(sessions) == 1 else f"{notifier.base}{reverse('home')}"
        tag = news[0].id if count == 1 else id
        asks = any(one.kind == "asks" for one in news)
        return Message(id, title, text, url, tag, asks, _wire(id, title, text, url, _each(news, notifier)))


def test_message(notifier: Notifier) -> Message:
    """What a person sends to themselves, to see that it arrives."""
    id = ascending("dlv")
    with override(notifier.language or None):
        title = gettext("A test of opencode-web")
        text = gettext("%(name)s works: this is what news look like.") % {"name": visible(notifier.name)}
    url = f"{notifier.base}{reverse('notifiers')}"
    return Message(id, title, text, url, TEST, False, _wire(id, title, text, url, []))


def _wire(id: str, title: str, text: str, url: str, news: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": id, "time": now(), "title": title, "text": text, "url": url, "news": news}


def _each(news: Iterable[News], notifier: Notifier) -> list[dict[str, Any]]:
    return [
        {
            "kind": one.kind,
            "what": one.what,
            "title": _kind(one),
            "session": {"id": one.session, "title": one.title},
            "project": {"id": one.project, "name": one.name},
            "request": one.request,
            "url": _link(one, notifier),
            "time": one.time,
        }
        for one in news
    ]


def _kind(news: News) -> str:
    said = _GOALS.get(news.what, "Goal") if news.kind == "goal" else _KINDS[news.kind]
    return gettext(said)


def _where(news: News) -> str:
    return " · ".join(filter(None, (_short(news.title), _short(news.name))))


def _line(news: News) -> str:
    return f"{_kind(news)}: {_where(news)}"


def _short(text: str) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= LONGEST_TITLE else f"{text[: LONGEST_TITLE - 1]}…"


def _link(news: News, notifier: Notifier) -> str:
    return f"{notifier.base}{reverse('session', args=(news.project, news.session))}"
