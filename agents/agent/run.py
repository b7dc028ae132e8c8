"""What one Session Drain holds in memory while it runs; everything durable is in rows."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.agent.steps.history import Transcript
from agents.tools.structured import Form
from sessions.changes.tracking import Tracker
from sessions.core.models import Session
from sessions.core.store.children import Spent
from sessions.core.wire.messages import UserMessage

DOOM_LOOP = 3
PLAIN = ("text", "file", "agent")


@dataclass(frozen=True, slots=True)
class Children:
    """The drains of child sessions: `run` wakes one and returns when it has nothing more to do, `stop`
    interrupts it. Both take a session's id."""

    run: Callable[[str], Awaitable[None]]
    stop: Callable[[str], None]


@dataclass(slots=True)
class Run:
    """`abort` is set when the turn is stopped; `background` are tasks that end with the drain."""

    session: Session
    tracker: Tracker
    children: Children
    transcript: Transcript
    abort: asyncio.Event = field(default_factory=asyncio.Event)
    background: set[asyncio.Task[Any]] = field(default_factory=set)
    error: dict[str, Any] | None = None
    """What ended the present turn, as the wire has errors; None while all is well."""
    rejected: bool = False
    """The user rejected a call without words: the turn ends after this step."""
    recent_calls: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=DOOM_LOOP))
    """The last tool calls: name and input as canonical JSON."""
    calls: Counter[str] = field(default_factory=Counter)
    """The calls of the present turn, by tool."""
    granted: dict[str, float] = field(default_factory=dict)
    """Of limits that a person let the present turn go beyond, by name: how much was used by then."""
    refusals: dict[str, str] = field(default_factory=dict)
    """What the model was told of those that nobody let it go beyond."""
    exhausted: bool = False
    """One of these was over all tools: the present turn ends in words."""
    elsewhere: Spent | None = None
    """What the other sessions of the conversation have spent, once that was looked at in the present turn."""
    taken: int = 0
    """The steps that the turn had taken already which is gone on with next."""
    answered: UserMessage | None = None
    """The prompt whose turn has ended in order, and which that was not told of yet."""
    silent: bool = False
    """Nobody wants an answer to what was promoted last."""
    form: Form | None = None
    """What the answer of the present turn has to look like, where its prompt asks for that."""
    instead: dict[str, str] = field(default_factory=dict)
    """The models that failed in the present turn, each with the one that took its place."""
    longer: bool = False
    """A call of the present turn was cut at the output limit: the next answers may be as long as the model
    can."""
    chosen: tuple[str, ...] = ()
    """The session's choice of agent and model when the present prompt was promoted."""
    has_errands: bool = False
    """What was promoted for the present turn asks for more than an answer."""
    measured: Callable[[str], None] = lambda _: None
    """Tell that the session was measured as an attempt of a comparison, and which session, if another one,
    is to judge them all."""
    budgeted: bool = False
    """A goal or a schedule has a budget, which the present turn is part of."""
    seen: Session = field(init=False)
    """The session's row as of the last boundary."""

    def __post_init__(self) -> None:
        self.seen = self.session

    def allow_anew(self) -> None:
        """A person has spoken: calls are counted from here."""
        self.calls.clear()
        self.granted.clear()
        self.refusals.clear()
        self.elsewhere, self.exhausted = None, False

    def note_errands(self, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The parts of a prompt that is promoted: a command, a shell command, a compaction and an errand have
        a type or metadata of their own."""
        self.has_errands |= any(part["type"] not in PLAIN or part.get("metadata") for part in parts)
        return parts

    @property
    def directory(self) -> Path:
        return Path(self.session.directory)

    @property
    def worktree(self) -> Path:
        return self.tracker.worktree

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something beside the steps; it is cancelled if it outlives the drain."""
        task = asyncio.get_running_loop().create_task(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task
