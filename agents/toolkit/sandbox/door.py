"""The one way by which programs of the agent start: confined where the configuration says so, or not."""

from __future__ import annotations

import asyncio
import fcntl
import os
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from weakref import WeakKeyDictionary

from agents.config.limits import MEGABYTE, limits_of
from agents.toolkit import scratch
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.sandbox import probe
from agents.toolkit.sandbox.box import Box, CannotOpen
from agents.toolkit.sandbox.network import Ask, Call, Lasting
from agents.toolkit.sandbox.policy import (
    CannotConfine,
    Policy,
    environment,
    make_caches,
    policy,
    stand_in,
    stood_in,
)
from agents.toolkit.sandbox.ports import NotThere, Ports
from agents.toolkit.sandbox.proxy import Place
from agents.toolkit.sandbox.refusals import Heard
from agents.toolkit.shared import process
from agents.toolkit.shared.process import Budget, Ended
from agents.toolkit.turn import Turn
from sessions.core import bus, paths
from sessions.core.above import Port
from sessions.core.models import Session

PORTS_CHANGED = "sandbox.ports"
"""The event that others of a session's ports are listened on, or ways to them open."""


Command = Sequence[str] | Callable[[Mapping[str, str]], Sequence[str]]
"""A command line, or what makes it of the variables by which the way out of the sandbox is found."""


class Refused(Exception):
    """A program was not started, as it could not be confined; the text is for people and for the model."""


async def run(
    command: Command,
    turn: Turn,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109 - as `process.run`
    abort: asyncio.Event,
    on_output: Callable[[bytes], Awaitable[None]],
    ask: Ask | None = None,
    outside: bool = False,
    lasting: bool = False,
) -> Ended:
    """`process.run` of a turn; `ask` asks the person about the network. `outside`: a person allowed that it
    is not confined. It ends at the limits of the configuration, too, `lasting` at none of time: it is talked
    to by later calls. Raises Refused, and what that raises."""
    limits = limits_of(turn.config)
    memory = limits.command_memory and limits.command_memory * MEGABYTE
    how = partial(
        process.run,
        cwd=cwd,
        timeout=timeout if lasting else min(timeout, limits.command_seconds or timeout),
        abort=abort,
        budget=Budget(memory, limits.command_cpu_seconds),
    )
    confined = turn.terms.sandbox
    if confined == "off" or outside:
        return await how(_line(command, {}), env=env, on_output=on_output)
    box = await _box(turn, network=confined == "project")
    rules, heard = partial(_by_rules, turn), Heard(on_output)
    async with _called(box, ask or rules, rules, lasting=lasting) as (call, port):
        variables = call.variables(port) if port else {}
        environ = {**environment(env), **variables}
        argv = _line(command, variables)
        ended = await how(argv, env=environ, on_output=heard.take, start=box.start, pauses=call.pauses)
    unwritten = await asyncio.to_thread(heard.refused, cwd, box.around) if ended.exit_code else ()
    return replace(ended, unwritten=unwritten, refused=tuple(call.refused), sandbox=confined)


@asynccontextmanager
async def _called(box: Box, ask: Ask, rules: Ask, *, lasting: bool) -> AsyncIterator[tuple[Call, int]]:
    """A call, and the port by which it gets out (0: by none). One that lasts has a port of its own: it is not
    taken for the one call that runs."""
    if not lasting:
        with box.calls.running(ask, after=rules) as call:
            yield call, box.port
        return
    call = Lasting(ask)
    async with box.way(call) as port:
        yield call, port


def _line(command: Command, variables: Mapping[str, str]) -> Sequence[str]:
    return command(variables) if callable(command) else command


async def _by_rules(turn: Turn, permission: str, place: Place) -> None:
    """Where nobody is asked. Raises NotPermitted."""
    if evaluate(permission, place.host, turn.rules).action != "allow":
        raise NotPermitted("No rule allows it, and nobody can be asked for this program.")


@dataclass(slots=True)
class _Boxes:
    """Those of one event loop."""

    open: dict[str, Box] = field(default_factory=dict)
    """By session, where its next program starts."""
    living: set[Box] = field(default_factory=set)
    """Also those that end with what still runs in them."""
    opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    def shows(self, session: Session, box: Box) -> None:
        """Others of its ports."""
        before = _shown.get(session.id)
        if shown := box.ports.shown():
            _shown[session.id] = asyncio.get_running_loop(), box.ports, shown
        elif before is not None and before[1] is box.ports:  # and not those of the one in its place
            del _shown[session.id]
        told = {"sessionID": session.id}
        bus.publish(bus.Event(PORTS_CHANGED, told, project_id=session.project_id, session_id=session.id))

    def over(self, session_id: str, box: Box, standing: Sequence[Path]) -> None:
        """Nothing of it lives any more."""
        _standing.give_back(standing)
        self.living.discard(box)
        if self.open.get(session_id) is box:
            del self.open[session_id]


# What a person sees of the sandboxes is asked for by other threads.
_shown: dict[str, tuple[asyncio.AbstractEventLoop, Ports, tuple[Port, ...]]] = {}
_boxes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Boxes] = WeakKeyDictionary()


async def _box(turn: Turn, *, network: bool) -> Box:
    """The sandbox of a session, made anew where it is no more what it is to be. Raises Refused."""
    around = await asyncio.to_thread(_around, turn)
    boxes = _boxes.setdefault(asyncio.get_running_loop(), _Boxes())
    async with boxes.opening:
        box = boxes.open.get(turn.session.id)
        if box is not None and box.holds(around, network=network):
            return box
        around = await asyncio.to_thread(_around_with_caches, turn)
        if box is not None and box.holds(around, network=network):  # a call beside this one has just made it
            return box
        if box is not None:
            box.rest()
        standing = _standing.take(around)  # not in a thread: a stop would leave it there
        box = Box(
            around,
            lambda it: boxes.over(turn.session.id, it, standing),
            lambda it: boxes.shows(turn.session, it),
            network=network,
        )
        boxes.living.add(box)
        try:
            await box.open(standing, _empty())
        except CannotOpen as error:
            raise Refused(f"Not run: the sandbox that is asked for did not begin: {error}") from error
        boxes.open[turn.session.id] = box
        return box


def ports(session_id: str) -> tuple[Port, ...]:
    """Those that programs in the sandbox of a session listen on, where it is of this process. From any
    thread."""
    _, _, shown = _shown.get(session_id, (None, None, ()))
    return shown


async def open_port(session_id: str, number: int) -> int:
    """Open a way to one of them from outside, and give the port on this machine's loopback that leads there.
    From any loop. Raises NotThere."""
    if session_id not in _shown:
        raise NotThere("Nothing listens in the sandbox any more.")
    loop, ways, _ = _shown[session_id]
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(ways.open(number), loop))


def close_port(session_id: str, number: int) -> None:
    """From any thread."""
    if session_id in _shown:
        loop, ways, _ = _shown[session_id]
        loop.call_soon_threadsafe(ways.close, number)


def sandbox(session_id: str) -> object:
    """What tells the sandbox in which programs of a session start now from an earlier one; None for none."""
    boxes = _boxes.get(asyncio.get_running_loop())
    return boxes.open.get(session_id) if boxes is not None else None


async def rest(session_id: str) -> None:
    """A turn is over: its sandbox ends, at once or with the last program that goes on in the background."""
    boxes = _boxes.get(asyncio.get_running_loop())
    if boxes is not None and (box := boxes.open.get(session_id)) is not None and box.rest():
        await box.ended()


async def close() -> None:
    """End every sandbox of the running loop, with all that runs in it."""
    boxes = _boxes.pop(asyncio.get_running_loop(), _Boxes())
    closing = list(boxes.living)
    for box in closing:
        box.close()
    await asyncio.gather(*(box.ended() for box in closing))


def _around_with_caches(turn: Turn) -> Policy:
    """Raises Refused. Blocks."""
    make_caches()
    return _around(turn)


def _around(turn: Turn) -> Policy:
    """Raises Refused. Blocks."""
    found = probe.found()
    if not found.holds:
        raise Refused(f'Not run: it is to be confined ("sandbox": "{turn.terms.sandbox}"), and {found.words}')
    outputs = paths.tool_output()
    folder = scratch.made(outputs, turn.session.id)
    if folder is None:
        raise Refused("Not run: the session's temporary folder cannot be made, and the sandbox needs one.")
    temporary = folder / "tmp"
    temporary.mkdir(mode=scratch.PRIVATE, exist_ok=True)
    try:
        write, read = turn.config.sandbox_write, [added.path for added in turn.folders if not added.write]
        roots = [turn.worktree, turn.directory, *(added.path for added in turn.folders if added.write)]
        return policy(roots, temporary, [folder], write, read)
    except CannotConfine as error:
        raise Refused(f"Not run: it is to be confined, and {error}") from error


def _empty() -> Path:
    path = paths.data_directory() / "empty"
    path.touch(mode=0o400)
    return path


class _Standing:
    """What stands in for what is held and is not there, as long as a program could put something there. It
    is noted in a file that is locked while this process lives: another takes away what a killed one left."""

    def __init__(self) -> None:
        self._counts: Counter[Path] = Counter()
        self._lock = Lock()
        self._file = -1

    def take(self, around: Policy) -> list[Path]:
        """Raises Refused. Blocks."""
        taken: list[Path] = []
        with self._lock:
            missing = around.missing(self._counts)
            self._note({*self._counts, *missing})
            for path in missing:
                try:
                    if not os.path.lexists(path):  # also where it stood already and somebody removed it
                        stand_in(path)
                except FileExistsError:
                    continue  # somebody has just made it: it is held as it is
                except OSError as error:
                    raise Refused(f"Not run: {path} cannot be kept from being made: {error}") from error
                self._counts[path] += 1
                taken.append(path)
        return taken

    def give_back(self, standing: Sequence[Path]) -> None:
        with self._lock:
            for path in standing:
                self._counts[path] -= 1
                if not self._counts[path]:
                    del self._counts[path]
                    with suppress(OSError):
                        stood_in(path)
            self._note(set(self._counts))

    def _note(self, standing: set[Path]) -> None:
        if self._file < 0:
            self._file = os.open(_notes() / uuid.uuid4().hex, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, b"\0".join(sorted(map(os.fsencode, standing))), 0)


_standing = _Standing()


def _notes() -> Path:
    folder = paths.data_directory() / "standing-in"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def recover() -> None:
    """Take away what processes left that were killed. Blocks."""
    for note in _notes().iterdir():
        file = os.open(note, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # it lives
            continue
        else:
            for path in filter(None, note.read_bytes().split(b"\0")):
                with suppress(OSError):
                    stood_in(Path(os.fsdecode(path)))
            note.unlink(missing_ok=True)
        finally:
            os.close(file)
