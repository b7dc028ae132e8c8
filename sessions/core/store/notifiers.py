"""Notifiers and their outbox: what is told is written with what happened, and sent after it.

A delivery is claimed before each try and settled after it, both by a conditional update: two servers never
try it at once, what was acknowledged is not tried again, and what a crash cut off is, once its claim has
lapsed (docs/decisions/0067-notifiers.md).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, time, timedelta
from functools import partial
from typing import Any, Literal
from zoneinfo import ZoneInfo

from django.db import transaction
from django.db.models import F, Min
from django.utils.translation import gettext

from sessions.core import bus
from sessions.core.ids import ascending, now
from sessions.core.models import (
    Delivery,
    Goal,
    Message,
    Notifier,
    PermissionRequest,
    Project,
    QuestionRequest,
    Session,
    Verdict,
)
from sessions.core.prepared import Prepared
from sessions.core.sealing import Unreadable, seal, unseal
from sessions.core.store.family import topmost

Kind = Literal["asks", "done", "failed", "goal"]
KINDS: tuple[Kind, ...] = ("asks", "done", "failed", "goal")
DUE = "notifiers.due"
"""Ours, never logged: there may be something to send."""
LONGEST_NAME = 80
LONGEST = 4_000
"""Characters of an address or a secret."""
MOST_WAIT = 24 * 60
MOST_NEWS = 100
"""Of one delivery; what comes beyond is counted in its last."""
LEASE_MS = 60_000
"""How long a try may take before another one may begin: more than a try is given."""
BACKOFF = (30, 120, 600, 3_600, 6 * 3_600, 12 * 3_600)
"""Seconds after each try that failed; after the last one it is given up."""
_KEPT_MS = 14 * 24 * 3_600_000
_MINUTE = 60_000

State = Delivery.State


class NotifierRefused(ValueError):
    """It cannot be so; the text is for the person."""


@dataclass(frozen=True, slots=True)
class News:
    """One thing that happened: `id` names it, and in a browser the notification of it. `what` is what a
    session asks (`permission` or `question`) by the request `request`, or what became of a goal, whose id
    `request` then is. `title` is that of the session, `name` that of the project. `more` counts those that
    were left out after it."""

    id: str
    kind: Kind
    session: str
    project: str
    title: str
    name: str
    time: int
    what: str = ""
    request: str = ""
    more: int = 0

    def wire(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a notifier sends to: `address`, whom there (`to`), and the `secret` that it takes."""

    address: str
    to: str = ""
    secret: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery that is to be tried now."""

    delivery: Delivery
    claim: str

    @property
    def notifier(self) -> Notifier:
        return self.delivery.notifier

    @property
    def news(self) -> list[News]:
        return [News(**one) for one in self.delivery.news]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person sets; see `Notifier`. Of a `target` what is empty stays as it was."""

    name: str
    format: str
    target: Target
    place: str
    kinds: Sequence[str]
    projects: Sequence[str] = ()
    wait: int = 0
    quiet_from: str = ""
    quiet_until: str = ""
    zone: str = ""
    base: str = ""
    language: str = ""

    def check(self) -> None:
        """Raises NotifierRefused."""
        if not self.name or len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise NotifierRefused(gettext("A name has 1 to %(count)s letters.") % {"count": LONGEST_NAME})
        if any(len(value) > LONGEST for value in asdict(self.target).values()):
            raise NotifierRefused(gettext("At most %(count)s characters.") % {"count": LONGEST})
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise NotifierRefused(gettext("Choose what is told."))
        if not 0 <= self.wait <= MOST_WAIT:
            raise NotifierRefused(gettext("It waits for %(count)s minutes at most.") % {"count": MOST_WAIT})
        for text in filter(None, (self.quiet_from, self.quiet_until)):
            _clock(text)
        if bool(self.quiet_from) != bool(self.quiet_until):
            raise NotifierRefused(gettext("Quiet hours have a beginning and an end."))


def _clock(text: str) -> time:
    """Raises NotifierRefused."""
    try:
        return time.fromisoformat(text)
    except ValueError as error:
        raise NotifierRefused(gettext("%(text)s is no time of day.") % {"text": text}) from error


def listed(person: str) -> list[Notifier]:
    """Those of a person (empty where a server has one login), by name."""
    return sorted(Notifier.objects.filter(person=person), key=lambda row: (row.name.lower(), row.id))


def get(id: str, person: str) -> Notifier | None:
    return Notifier.objects.filter(id=id, person=person).first()


def target_of(notifier: Notifier) -> Target:
    """Raises NotifierRefused where it was sealed with another secret."""
    try:
        return Target(**json.loads(unseal(notifier.sealed)))
    except Unreadable as error:
        raise NotifierRefused(gettext("Its address cannot be read any more: give it again.")) from error


@transaction.atomic
def save(choice: Choice, person: str, before: Notifier | None = None) -> Notifier:
    """A new one, or in the place of the one `before`. Raises NotifierRefused."""
    choice.check()
    row = before or Notifier(id=ascending("ntf"), person=person, time_created=now())
    row.sealed = seal(json.dumps(asdict(_together(choice.target, before))))
    row.name, row.format, row.place = choice.name, choice.format, choice.place
    row.kinds, row.projects, row.wait = list(choice.kinds), list(choice.projects), choice.wait
    row.quiet_from, row.quiet_until, row.zone = choice.quiet_from, choice.quiet_until, choice.zone
    row.base, row.language = choice.base, choice.language
    row.save()
    _plan_anew(row)
    return row


def _together(given: Target, before: Notifier | None) -> Target:
    if before is None or (given.address and given.secret):
        return given
    try:
        known = target_of(before)
    except NotifierRefused:
        if given.address:
            return given
        raise
    return Target(given.address or known.address, given.to or known.to, given.secret or known.secret)


def _plan_anew(notifier: Notifier) -> None:
    """What waits for its first try waits as it is now chosen."""
    for row in Delivery.objects.filter(notifier=notifier, state=State.WAITING, tries=0):
        row.time_due = due(notifier, row.time_created)
        row.save(update_fields=["time_due"])
    _wake()


def remove(notifier: Notifier) -> None:
    """With what is on its way."""
    notifier.delete()


@transaction.atomic
def switch(notifier: Notifier, enabled: bool) -> None:
    """What waits when it is switched off is not told later."""
    Notifier.objects.filter(id=notifier.id).update(enabled=enabled)
    if not enabled:
        Delivery.objects.filter(notifier=notifier, state=State.WAITING).update(state=State.DROPPED)


# What happened


def asked(session: Session, what: str, request: str) -> None:
    """A session waits for a person. Call it in the transaction of what it asks."""
    _tell("asks", session, request, what, request)


def ended(session: Session) -> None:
    """A turn has ended by itself. Call it in the transaction of that; a subagent's is told to nobody, and to
    who is told of goals no end of a turn that was the end of one."""
    if session.parent_id is None:
        kind: Kind = "failed" if session.error else "done"
        _tell(kind, session, f"{session.id} {session.time_updated}")


def reached(goal: Goal) -> None:
    """A goal is not worked at any more, and not because a person said so. Call it in the transaction of
    that."""
    _tell("goal", goal.session, f"{goal.id} {goal.state}", str(goal.state), goal.id)


_ENABLED: Prepared[Notifier] = Prepared(lambda: Notifier.objects.filter(enabled=True))


def _tell(kind: Kind, session: Session, id: str, what: str = "", request: str = "") -> None:
    wanting = [row for row in _ENABLED.rows() if _wants(row, kind, session.project_id)]
    if not wanting:
        return
    root = topmost(session)
    name = Project.objects.values_list("name", flat=True).get(id=root.project_id)
    news = News(id, kind, root.id, root.project_id, root.title, name, now(), what, request)
    for notifier in wanting:
        if not (kind == "done" and "goal" in notifier.kinds and _was_of_goal(root)):
            _put(notifier, news)
    _wake()


def _was_of_goal(session: Session) -> bool:
    """Whether its last turn was judged to be the end of a goal."""
    last = Verdict.objects.filter(goal__session=session).order_by("-id").first()
    newest = Message.objects.filter(session=session).order_by("-id").first()
    return last is not None and newest is not None and last.message_id == newest.id


def _wants(notifier: Notifier, kind: Kind, project: str) -> bool:
    return kind in notifier.kinds and (not notifier.projects or project in notifier.projects)


def _put(notifier: Notifier, news: News) -> None:
    """Into the delivery that waits for its time, else into a new one."""
    moment = now()
    waiting = Delivery.objects.select_for_update().filter(notifier=notifier, state=State.WAITING, tries=0)
    row = waiting.filter(time_due__gt=moment).order_by("time_due").first()
    if row is None:
        Delivery.objects.create(
            id=ascending("dlv"),
            notifier=notifier,
            news=[news.wire()],
            time_due=due(notifier, moment),
            time_created=moment,
        )
    elif len(row.news) < MOST_NEWS:
        row.news.append(news.wire())
        row.save(update_fields=["news"])
    else:
        row.news[-1]["more"] += 1
        row.save(update_fields=["news"])


def _wake() -> None:
    transaction.on_commit(partial(bus.publish, bus.Event(DUE, {})))


def due(notifier: Notifier, moment: int) -> int:
    """When something of a moment (ms) is to be told: after the wait, and outside of the quiet hours."""
    return _awake(notifier, moment + notifier.wait * _MINUTE)


def _awake(notifier: Notifier, moment: int) -> int:
    if not notifier.quiet_from or notifier.quiet_from == notifier.quiet_until:
        return moment
    begin, end = _clock(notifier.quiet_from), _clock(notifier.quiet_until)
    local = datetime.fromtimestamp(moment / 1000, _zone(notifier.zone))
    clock = local.time()
    within = begin <= clock < end if begin < end else clock >= begin or clock < end
    if not within:
        return moment
    day = local.date() + timedelta(days=1) if clock >= end else local.date()
    return int(datetime.combine(day, end, local.tzinfo).timestamp() * 1000)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ValueError, OSError, LookupError):
        return ZoneInfo("UTC")


# The outbox


@transaction.atomic
def claim(most: int) -> list[Claimed]:
    """Up to so many deliveries whose time has come, for one try each. Of their news only those are left that
    still hold; a delivery without any is dropped."""
    moment = now()
    rows = Delivery.objects.filter(state=State.WAITING, time_due__lte=moment, notifier__enabled=True)
    found: list[Claimed] = []
    for id in list(rows.order_by("time_due").values_list("id", flat=True)[:most]):
        token = secrets.token_hex(8)
        free = Delivery.objects.filter(id=id, state=State.WAITING, time_due__lte=moment)
        if not free.update(claim=token, tries=F("tries") + 1, time_due=moment + LEASE_MS):
            continue
        row = Delivery.objects.select_related("notifier").get(id=id)
        if row.tries == 1:
            row.news = [one for one in row.news if _holds(News(**one))]
            row.state = State.WAITING if row.news else State.DROPPED
            row.save(update_fields=["news", "state"])
        elif not any(_holds(News(**one)) for one in row.news):
            row.state = State.DROPPED
            row.save(update_fields=["state"])
        if row.state == State.WAITING:
            found.append(Claimed(row, token))
    return found


def _holds(news: News) -> bool:
    """Whether a person has still to be told."""
    if news.kind == "asks":
        model = QuestionRequest if news.what == "question" else PermissionRequest
        return bool(model._default_manager.filter(id=news.request, state="pending").exists())
    row = Session.objects.filter(id=news.session, time_deleted=None).first()
    if row is None:
        return False
    if news.kind == "goal":
        return Goal.objects.filter(id=news.request, state=news.what).exists()
    return row.unread


def sent(claimed: Claimed) -> None:
    """It was acknowledged."""
    _settle(claimed, State.SENT, "")


def failed(claimed: Claimed, words: str, *, again: bool, seconds: float = 0.0) -> None:
    """It was not: to be tried again, after `seconds` at least, or not. `words` say why."""
    tries = claimed.delivery.tries
    if not again or tries > len(BACKOFF):
        _settle(claimed, State.FAILED, words)
        return
    after = max(float(BACKOFF[tries - 1]), min(seconds, 24 * 3_600.0))
    moment = _awake(claimed.notifier, now() + int(after * 1000))
    _settle(claimed, State.WAITING, words, moment)


@transaction.atomic
def _settle(claimed: Claimed, state: Delivery.State, words: str, moment: int | None = None) -> None:
    """Whoever lost the claim meanwhile settles nothing."""
    changed: dict[str, Any] = {"state": state, "words": words, "claim": ""}
    if moment is not None:
        changed["time_due"] = moment
    row = claimed.delivery
    if Delivery.objects.filter(id=row.id, claim=claimed.claim, state=State.WAITING).update(**changed):
        note(row.notifier_id, state.value, words)


def note(notifier_id: str, result: str, words: str) -> None:
    """How telling somebody went last, for the person who looks at it."""
    Notifier.objects.filter(id=notifier_id).update(result=result, words=words, time_told=now())


def next_due() -> int | None:
    """When the next delivery is to be tried (ms); None while none waits."""
    rows = Delivery.objects.filter(state=State.WAITING, notifier__enabled=True)
    found: Mapping[str, int | None] = rows.aggregate(first=Min("time_due"))
    return found["first"]


def tidy() -> int:
    """Forget what came to its end long ago; returns how many."""
    old = Delivery.objects.filter(time_created__lt=now() - _KEPT_MS).exclude(state=State.WAITING)
    return int(old.delete()[0])
