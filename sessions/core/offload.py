"""Costly work on text that others wrote, in a small process that the kernel ends when it takes too much.

A lexer or a parser cannot be interrupted from Python, and a thread holds up all others. The processes start
when they are first needed, end when nothing was asked for a while, and end with this one, with which their
input ends (`offload_process.py`). docs/decisions/0025.
"""

from __future__ import annotations

import json
import logging
import selectors
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sessions.core.bounded import Bounded

P = ParamSpec("P")
T = TypeVar("T")

AT_ONCE = 2
"""Works of one kind; those beyond wait."""
PATIENCE = 10
"""Seconds on the clock for each second of work, on a machine that has others to do."""
REMEMBERED = 1024
"""Works that came to nothing; they are not tried again."""
MOST_ENDED, WINDOW = 4, 60.0
"""So many works of one kind that came to nothing in so many seconds: then that kind is not tried for a while,
because a page may have hundreds of such texts."""

_ROOT = Path(__file__).parents[2]
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from sessions.core.offload_process import main
main()
"""

log = logging.getLogger(__name__)


class NotDone(Exception):
    """The work came to nothing; the text says why, for people."""


class Pool:
    """From any thread."""

    def __init__(self) -> None:
        self.inside = False
        """Whether this is one of its processes."""
        self._room: dict[str, threading.Semaphore] = {}
        self._free: list[_Process] = []
        self._ended: dict[str, deque[float]] = {}
        self._given_up: Bounded[int, str] = Bounded(REMEMBERED)

    def run(self, name: str, seconds: float, arguments: tuple[Any, ...]) -> Any:
        """What a function, named `module:function`, makes of its arguments, in so many seconds of work at
        most. It blocks. Raises NotDone."""
        task = json.dumps({"name": name, "arguments": arguments, "seconds": seconds}).encode()
        known = hash(task)
        if known in self._given_up:
            raise NotDone(self._given_up[known])
        ended = self._ended.setdefault(name, deque(maxlen=MOST_ENDED))
        if len(ended) == MOST_ENDED and time.monotonic() - ended[0] < WINDOW:
            raise NotDone("too much like it took too long a moment ago")
        with self._room.setdefault(name, threading.Semaphore(AT_ONCE)):
            try:
                return self._run(task, seconds)
            except NotDone as error:
                ended.append(time.monotonic())
                self._given_up[known] = str(error)
                log.warning("%s was given up: %s", name, error)
                raise

    def _run(self, task: bytes, seconds: float) -> Any:
        while self._free:
            process = self._free.pop()
            try:
                return self._ask(process, task, seconds)
            except _Idle:
                continue
        try:
            return self._ask(_Process(), task, seconds)
        except (_Idle, OSError) as error:
            raise NotDone("its process could not be started") from error

    def _ask(self, process: _Process, task: bytes, seconds: float) -> Any:
        try:
            answer = process.ask(task, seconds)
        except BaseException:
            process.end()
            raise
        self._free.append(process)
        return answer


class _Idle(Exception):
    """The process had ended by itself before it was asked."""


class _Process:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps([str(_ROOT), *sys.path])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env={},  # no key and no password
            start_new_session=True,
        )

    def ask(self, task: bytes, seconds: float) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if self._process.poll() is not None:
            raise _Idle
        try:
            self._process.stdin.write(task + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise _Idle from error
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(PATIENCE * (seconds + 1)):
                raise NotDone(f"it took more than {seconds:g} seconds")
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            if self._process.wait() == 0:
                raise _Idle
            raise NotDone(f"it took more than {seconds:g} seconds")
        answer = json.loads(line)
        if "failure" in answer:
            raise NotDone(answer["failure"])
        return answer["value"]

    def end(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                pipe.close()  # type: ignore[union-attr]
        self._process.wait()


pool = Pool()


def offload(*, over: int, seconds: float) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function of a module done in the other process when its first argument, a text, is longer than
    `over`. Arguments and result go as JSON. It may raise NotDone then, and blocks: not for a loop."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        name = f"{function.__module__}:{function.__qualname__}"

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if pool.inside or len(str(args[0])) <= over:
                return function(*args, **kwargs)
            result: T = pool.run(name, seconds, args)
            return result

        return call

    return decorate
