"""A command that the user runs in the session's shell: a prompt whose answer is that one call.

Nothing is asked, it is the user's own; the model reads it in the history. Like any call it is in the ledger
between two snapshots, so it can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.agent.calls.calls import Calls
from agents.agent.calls.clock import Clock
from agents.agent.calls.context import CallContext
from agents.agent.run import Run
from agents.agent.steps.recorder import Recorder
from agents.agent.steps.sample import choice_now, sample
from agents.agent.steps.trouble import failed
from agents.llm.providers import UnknownModel
from agents.llm.types import ToolCall
from agents.toolkit.base import Approval
from agents.toolkit.definitions import UnknownAgent
from agents.toolkit.permission.rules import Ruleset
from agents.tools.registry import toolset
from sessions.changes import actions
from sessions.core.ids import ascending, now
from sessions.core.models import AdmittedPrompt, Session
from sessions.core.store import shells
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.parts import ToolPart

TIMEOUT = 600_000
"""Milliseconds."""


async def admit(session: Session, command: str, **choice: Any) -> AdmittedPrompt:
    """Have the command run when the session is idle, and wake it (see `inbox.admit` for the choices)."""
    return await actions.prompt(session, [shells.part_of(command)], **choice)


async def run_shell(run: Run, prompt: UserMessage, command: str) -> None:
    """Run it as the one call of an answer to the prompt. It is a person's own: no sandbox is around it."""
    try:
        turn = await sample(run, choice_now(run, prompt))
        turn = replace(turn, terms=replace(turn.terms, sandbox="off"))
    except (UnknownAgent, UnknownModel) as error:
        await failed(run, await Recorder.open(run, prompt), error)
        return
    recorder = await Recorder.open(run, prompt, turn)
    await recorder.put()
    call = ToolCall(ascending("call"), "bash", {"command": command, "timeout": TIMEOUT}, "")
    async with _OwnCalls(run, recorder, turn, await toolset(turn)) as calls:
        if (begun := await recorder.take(call)) is not None:
            begun[0].metadata = dict(shells.CALL)
            calls.begin(begun)
    recorder.message.time.completed = now()
    await recorder.put()


class _Granted(CallContext):
    """Allows everything."""

    async def ask(
        self,
        permission: str,
        patterns: Sequence[str],
        *,
        always: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        outdated: Callable[[], bool] | None = None,
        rules: Ruleset | None = None,
    ) -> Approval:
        return Approval()


class _OwnCalls(Calls):
    def context_of(self, part: ToolPart, outer: Clock | None = None) -> CallContext:
        return _Granted(self.run, self.turn, part, Clock(part, outer), self._within)
