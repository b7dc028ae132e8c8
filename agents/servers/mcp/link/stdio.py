"""Messages of JSON-RPC, one a line, with a child process (MCP, "Transports", stdio)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import Client, types
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage

from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.server import Server
from agents.toolkit.children.child import CannotStart, Child, Tail
from agents.toolkit.sandbox.servers import CannotConfine, confined
from agents.toolkit.shared.environment import program_environment
from sessions.core.sentences import Sentence, joined

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one message."""
MAX_GARBAGE = 100
"""Lines in a row that are no messages: a program that is no MCP server."""
_NOTED, _SHOWN = 5, 200
"""How many of them in a row get into the log, and how many bytes of each."""
_EXIT_SECONDS = 1.0
"""Between the end of a program's output and its own."""
_LAST_LINES = 5

Inbound = MemoryObjectSendStream[SessionMessage | Exception]
Outbound = MemoryObjectReceiveStream[SessionMessage]


class Program:
    """A server that is a program; `log` gets what it says on stderr."""

    def __init__(self, child: Child, log: Tail) -> None:
        self._child = child
        self._log = log
        self._before = log.dropped + len(log.lines())
        self._problem = ""
        self._why = ""
        self._over = asyncio.Event()
        child.errors = log

    @classmethod
    async def start(cls, server: Server, root: Path, log: Tail) -> Program:
        """Raises ServerFailed."""
        folder, given = root / server.cwd, dict(server.environment)
        argv: Sequence[str] = server.command
        env: Mapping[str, str] = {**program_environment(), **given}
        try:
            if server.sandbox:
                argv, env = await asyncio.to_thread(confined, argv, folder, env, given)
            child = await Child.start(argv, cwd=folder, env=env, limit=MAX_LINE)
        except (CannotConfine, CannotStart) as error:
            raise ServerFailed(Sentence("cannot be started: %(error)s", error=error)) from error
        return cls(child, log)

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[TransportStreams]:
        """As the SDK's client wants them."""
        inbound, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, outbound = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group, read, write:
            group.start_soon(self._listen, inbound)
            group.start_soon(self._speak, outbound)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()

    async def ended(self, _: Client | None = None) -> str:
        """Until nothing more comes from it; why, with the last that it said on stderr."""
        await self._over.wait()
        if not self._why:
            self._why = self._with_last_words(self._problem or await self._exit())
        return self._why

    async def reason(self, failure: str) -> str:
        """Why it is of no use: that it has ended, if it has, or else the failure."""
        return await self.ended() if self._over.is_set() else self._with_last_words(failure)

    async def end(self) -> None:
        """It and all that it started."""
        await self._child.end()

    async def _exit(self) -> str:
        reason: str = Sentence("closed its output")
        with suppress(TimeoutError):
            async with asyncio.timeout(_EXIT_SECONDS):
                reason = await self._child.wait()
                await self._child.silent(_EXIT_SECONDS)
        return reason

    def _with_last_words(self, reason: str) -> str:
        new = self._log.lines()[max(0, self._before - self._log.dropped) :]
        said = [line for line in new if line.strip()][-_LAST_LINES:]
        return joined([reason, *said], "\n")

    async def _listen(self, inbound: Inbound) -> None:
        garbage = 0
        async with inbound:
            try:
                while line := await self._child.output.readline():
                    message = _parsed(line)
                    if isinstance(message, SessionMessage):
                        garbage = 0
                        await inbound.send(message)
                    elif line.strip():
                        garbage += 1
                        self._note(line, garbage)
                    if garbage >= MAX_GARBAGE:
                        self._problem = Sentence(
                            "sent %(count)s lines in a row that are no messages of MCP", count=garbage
                        )
                        break
            except ValueError:  # of readline: longer than the limit of the child's output
                self._problem = Sentence("sent a line of more than %(most)s MB", most=MAX_LINE >> 20)
            except (anyio.BrokenResourceError, OSError):
                pass  # nobody listens any longer, or the pipe broke: the program's end says why
            self._over.set()  # not where we end it ourselves: there it is cancelled

    def _note(self, line: bytes, garbage: int) -> None:
        if garbage <= _NOTED:
            self._log.say(f"[no message of MCP] {line[:_SHOWN].decode('utf-8', 'replace').rstrip()}")

    async def _speak(self, outbound: Outbound) -> None:
        with suppress(OSError):  # it has ended; that is seen on its output
            async with outbound:
                async for item in outbound:
                    text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                    self._child.input.write(text.encode() + b"\n")
                    await self._child.input.drain()


def _parsed(line: bytes) -> SessionMessage | None:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return None
