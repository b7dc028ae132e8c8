"""Leases and their fence: of two who think that a session is theirs only the last writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from django.conf import settings as django_settings
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from sessions.core import bus, fence, workers
from sessions.core.fence import Lease, LeaseLost, fenced, guarded
from sessions.core.models import Event, Session
from sessions.core.store import events, leases, projects
from sessions.core.store import sessions as session_store
from sessions.core.workers import Worker, is_dead
from tests.conftest import USER_ENVIRON

pytestmark = pytest.mark.django_db(transaction=True)
SECONDS = 15.0


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_store.create(projects.open_project(tmp_path), str(tmp_path))


def titled(session: Session) -> str:
    return Session.objects.get(id=session.id).title


def expire(session: Session) -> Session:
    Session.objects.filter(id=session.id).update(lease_until=1)
    return Session.objects.get(id=session.id)


def test_a_lease_that_expired_is_not_free(session: Session) -> None:
    assert leases.claim(session.id, "one", SECONDS)
    expire(session)
    assert leases.claim(session.id, "two", SECONDS) is None
    assert leases.claim(session.id, "one", SECONDS) is None


def test_every_taking_raises_the_epoch(session: Session) -> None:
    first = leases.claim(session.id, "one", SECONDS)
    assert first is not None
    second = leases.seize(expire(session), "two", SECONDS, dead=False)
    assert second is not None
    leases.release(second)
    third = leases.claim(session.id, "two", SECONDS)
    assert third is not None
    assert first.epoch < second.epoch < third.epoch


def test_one_that_was_confirmed_meanwhile_is_not_seized(session: Session) -> None:
    lease = leases.claim(session.id, "one", SECONDS)
    assert lease is not None
    seen = expire(session)
    leases.renew("one", SECONDS)
    assert leases.seize(seen, "two", SECONDS, dead=False) is None
    leases.confirm(lease)


def retitled(session: Session, title: str = "after", *, told: bool) -> None:
    """In a transaction that looks at the lease at its end."""
    with events.together():
        Session.objects.filter(id=session.id).update(title=title)
        if told:
            events.record("session.updated", {}, session=session.id)


def test_who_lost_it_writes_nothing_more(session: Session) -> None:
    lost = leases.claim(session.id, "one", SECONDS)
    assert lost is not None
    guarded(lost, lambda: session_store.rename(session.id, "before"))
    leases.seize(expire(session), "two", SECONDS, dead=False)
    for write in (
        lambda: session_store.rename(session.id, "after"),
        lambda: Session.objects.filter(id=session.id).update(title="after"),
        lambda: leases.release(lost),
        lambda: retitled(session, told=True),
        lambda: retitled(session, told=False),
    ):
        with pytest.raises(LeaseLost):
            guarded(lost, write)
    with pytest.raises(LeaseLost):
        leases.confirm(lost)
    assert titled(session) == "before"
    assert Session.objects.get(id=session.id).lease_owner == "two"


def test_a_row_is_made_outside_of_a_transaction(session: Session) -> None:
    """SQLite commits nothing while an INSERT … RETURNING has rows to give."""
    lease = leases.claim(session.id, "one", SECONDS)
    assert lease is not None
    moment = {"time_created": 0}
    made = guarded(lease, lambda: Event.objects.create(type="one", session_id=session.id, **moment))
    assert Event.objects.get(id=made.id).type == "one"
    assert leases.seize(expire(session), "two", SECONDS, dead=False)
    with pytest.raises(LeaseLost):
        guarded(lease, lambda: Event.objects.create(type="two", session_id=session.id, **moment))
    assert not Event.objects.filter(type="two").exists()


def test_it_is_looked_at_once_in_a_transaction(
    session: Session, django_assert_num_queries: Callable[..., Any]
) -> None:
    lease = leases.claim(session.id, "one", SECONDS)
    assert lease is not None

    def write() -> None:
        with transaction.atomic(savepoint=False):
            for _ in range(3):
                Session.objects.filter(id=session.id).update(slug="new")

    with django_assert_num_queries(2 + 1 + 3):  # begin and commit, the look, the writes
        guarded(lease, write)
    with django_assert_num_queries(2 + 1 + 1):  # the write into the log looks itself
        guarded(lease, lambda: retitled(session, told=True))
    with django_assert_num_queries(2 + 1 + 1):
        guarded(lease, lambda: retitled(session, told=False))


def test_what_was_started_under_a_lease_that_ended_in_order_goes_on(session: Session) -> None:
    lease = leases.claim(session.id, "one", SECONDS)
    assert lease is not None
    leases.release(lease)
    lease.over = True
    with fenced(lease):
        assert fence.current() is None
        assert fence.is_fresh()


def test_who_stood_still_starts_nothing(session: Session) -> None:
    lease = leases.claim(session.id, "one", SECONDS)
    assert lease is not None
    with fenced(lease):
        fence.require()
        lease.confirmed -= SECONDS
        with pytest.raises(LeaseLost):
            fence.require()


class Listener(bus.Subscription):
    """A mailbox that is looked into without a loop."""

    def __init__(self) -> None:
        self.heard: list[bus.Event] = []
        self.missed = 0

    def offer(self, event: bus.Event) -> None:
        self.heard.append(event)

    def miss(self, event: bus.Event) -> None:
        self.missed += 1


@pytest.fixture
def listener(monkeypatch: pytest.MonkeyPatch) -> Listener:
    found = Listener()
    monkeypatch.setattr(bus, "_subscriptions", (ref(found),))
    return found


def test_events_of_an_older_epoch_are_dropped(listener: Listener) -> None:
    name = secrets.token_hex(8)
    for epoch, seq in ((1, None), (2, 1), (1, None), (1, 2), (0, None), (2, None)):
        bus.deliver(bus.Event("message.part.delta", {}, seq=seq, session_id=name, epoch=epoch))
    assert [event.epoch for event in listener.heard] == [1, 2, 0, 2]
    assert listener.missed == 1


@pytest.mark.sqlite
def test_a_worker_is_dead_when_the_kernel_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = Worker()
    worker.register()
    assert not is_dead(worker.name)
    child = os.fork()
    if child == 0:
        os._exit(0 if not is_dead(worker.name) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert worker._file is not None
    os.close(worker._file)  # as when it is killed
    worker._file = None
    assert is_dead(worker.name)
    assert is_dead("anotherboot.1234")
    workers.forget_dead({worker.name})
    assert (Path(django_settings.WORKER_DIR) / worker.name).exists()
    workers.forget_dead(set())
    assert not (Path(django_settings.WORKER_DIR) / worker.name).exists()


class Leases(RuleBasedStateMachine):
    """Three workers and one session, whose title collects what each writes as `epoch`."""

    names = st.sampled_from(["one", "two", "three"])

    def __init__(self) -> None:
        super().__init__()
        folder = Path(django_settings.DATA_DIR)
        self.session = session_store.create(projects.open_project(folder), str(folder))
        self.held: dict[str, list[Lease]] = {"one": [], "two": [], "three": []}
        self.seen: dict[str, Session] = {}
        self.written: list[int] = []
        self.told = 0

    @rule(name=names)
    def claim(self, name: str) -> None:
        was_free = not self.row.lease_owner
        lease = leases.claim(self.session.id, name, SECONDS)
        assert (lease is not None) == was_free
        if lease:
            self.held[name].append(lease)

    @rule(name=names)
    def beat(self, name: str) -> None:
        leases.renew(name, SECONDS)

    @rule()
    def pause(self) -> None:
        """Longer than the lease holds."""
        if self.row.lease_owner:
            expire(self.session)

    @rule(name=names)
    def look(self, name: str) -> None:
        self.seen[name] = self.row

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), dead=st.booleans())
    def seize(self, data: st.DataObject, dead: bool) -> None:
        """What was seen may be long ago."""
        name = data.draw(st.sampled_from(sorted(self.seen)))
        seen, row = self.seen[name], self.row
        as_seen = (seen.lease_owner, seen.lease_epoch) == (row.lease_owner, row.lease_epoch)
        lease = leases.seize(seen, name, SECONDS, dead=dead) if seen.lease_owner else None
        assert (lease is not None) == bool(seen.lease_owner and as_seen and (dead or row.lease_until == 1))
        if lease:
            self.held[name].append(lease)

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data(), words=st.integers(1, 3), how=st.sampled_from(["changed", "told", "plain"]))
    def write(self, data: st.DataObject, words: int, how: str) -> None:
        """Under any lease that anybody ever had, as a process that stood still does."""
        lease = data.draw(st.sampled_from([lease for all_ in self.held.values() for lease in all_]))
        rightful = (self.row.lease_owner, self.row.lease_epoch) == (lease.owner, lease.epoch)

        def add() -> None:
            with transaction.atomic():
                for _ in range(words):
                    title = Session.objects.get(id=self.session.id).title
                    new = f"{title} {lease.epoch}"
                    if how == "changed":
                        session_store.update(self.session.id, title=new)
                    else:
                        retitled(self.session, new, told=how == "told")

        try:
            guarded(lease, add)
        except LeaseLost:
            assert not rightful
        else:
            assert rightful
            self.written += [lease.epoch] * words
            self.told += words if how != "plain" else 0

    @precondition(lambda self: any(self.held.values()))
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        lease = data.draw(st.sampled_from([lease for all_ in self.held.values() for lease in all_]))
        before = self.row
        leases.release(lease)
        rightful = (before.lease_owner, before.lease_epoch) == (lease.owner, lease.epoch)
        assert self.row.lease_owner == ("" if rightful else before.lease_owner)

    @property
    def row(self) -> Session:
        return Session.objects.get(id=self.session.id)

    @invariant()
    def epochs_never_interleave(self) -> None:
        epochs = [int(word) for word in self.row.title.split() if word.isdigit()]
        assert epochs == self.written == sorted(epochs)
        logged = Event.objects.filter(session_id=self.session.id, type="session.updated").count()
        assert logged == self.told


@pytest.mark.long
def test_two_epochs_never_interleave() -> None:
    run_state_machine_as_test(
        Leases,
        settings=settings(
            max_examples=int(USER_ENVIRON.get("OPENCODE_WEB_EXAMPLES") or 40),
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
