"""The background consumer on channel "agent": hand each message to the runtime's thread and return."""

from __future__ import annotations

from channels.consumer import AsyncConsumer

from agents.runtime import disposal
from agents.runtime.runtime import runtime


class AgentConsumer(AsyncConsumer):
    """Messages are those of `sessions.wake`; the rows say what is to be done (design law 1)."""

    async def session_wake(self, message: dict[str, str]) -> None:
        runtime.wake(message["session"])

    async def session_interrupt(self, message: dict[str, str]) -> None:
        runtime.interrupt(message["session"])

    async def permission_answered(self, message: dict[str, str]) -> None:
        runtime.answered(message["request"])

    async def instance_disposed(self, message: dict[str, str]) -> None:
        disposal.begin(message["directory"])
