"""Run git for a person, in their name: with their own configuration, without a shell and without a question.

What the repository brings along runs where it is trusted (`programs`).
"""

from __future__ import annotations

import os
import re
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.git.programs import Programs, Setting, programs
from sessions.core.git import GitError
from sessions.core.platform import search_path
from sessions.core.platform.processes import holders

__all__ = ["Git", "GitError", "Watch"]

SECONDS = 60.0
REMOTE_SECONDS = 600.0
_OWN = re.compile(r"GIT_(SSH(_\w+)?|(AUTHOR|COMMITTER)_\w+|SSL_\w+|PROXY_\w+|TRACE\w*)")
"""Variables of git's that a person sets for themselves."""
REMOTE = "git:http:https:ssh"
"""Protocols by which another machine is reached."""
PROTOCOLS = f"file:{REMOTE}"
_ALWAYS: tuple[Setting, ...] = (
    ("core.quotePath", "false"),
    ("core.bigFileThreshold", "4m"),
    ("diff.suppressBlankEmpty", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("advice.detachedHead", "false"),
    ("color.ui", "false"),
)
_LOCK = re.compile(r"'([^'\n]+\.lock)'|could not lock config file (.+): File exists")
_PIECE = 16 * 1024


class Git:
    """git in the working tree at `top`. `trusted`: whether what the repository brings along may run.

    Every method blocks; raises GitError, whose text is what git said.
    """

    def __init__(self, top: Path, *, trusted: Callable[[Programs], bool] = lambda _: False) -> None:
        self.top = top
        self._trusted = trusted

    @cached_property
    def programs(self) -> Programs:
        """Raises GitError also where files of it cannot be read."""
        try:
            return programs(lambda *arguments: self._answer(arguments, (), b"", SECONDS, {}))
        except OSError as error:
            raise GitError(
                gettext("%(filename)s cannot be read: %(error)s")
                % {"filename": error.filename, "error": error.strerror}
            ) from error

    @cached_property
    def trusted(self) -> bool:
        """Whether nothing of the repository's is held back."""
        return not self.programs.found or self._trusted(self.programs)

    def read(
        self,
        *arguments: str,
        stdin: bytes = b"",
        index: Path | None = None,
        fine: Container[int] = (0,),
    ) -> bytes:
        """What git answers to a question: it takes no lock. `fine` are the codes that are no failure."""
        extra = {"GIT_OPTIONAL_LOCKS": "0"} | ({"GIT_INDEX_FILE": str(index)} if index else {})
        return self._answer(arguments, self._held, stdin, SECONDS, extra, fine=fine)

    def asked(self, *arguments: str) -> str:
        """A short answer; empty where git has none."""
        try:
            return os.fsdecode(self.read(*arguments)).strip()
        except GitError:
            return ""

    def write(
        self,
        *arguments: str,
        stdin: bytes = b"",
        seconds: float = SECONDS,
        watch: Watch | None = None,
        protocols: str = PROTOCOLS,
    ) -> str:
        """Do something, and what git said of it; `watch` hears it meanwhile, and may end it. Nothing is
        reached but by `protocols`."""
        extra = {"GIT_ALLOW_PROTOCOL": protocols, "PATH": search_path.persons()}  # as its hooks have it
        output = self._answer(arguments, self._held, stdin, seconds, extra, said=True, watch=watch)
        return output.decode("utf-8", "replace")

    @property
    def _held(self) -> tuple[Setting, ...]:
        return () if self.trusted else self.programs.held

    def _answer(
        self,
        arguments: Sequence[str],
        settings: Sequence[Setting],
        stdin: bytes,
        seconds: float,
        extra: Mapping[str, str],
        *,
        said: bool = False,
        fine: Container[int] = (0,),
        watch: Watch | None = None,
    ) -> bytes:
        environ = {**_environment(), **_configured((*_ALWAYS, *settings)), **extra}
        if arguments[0] == "stash":  # which tells itself of all files by `:/`
            del environ["GIT_LITERAL_PATHSPECS"]
        try:
            # Without a terminal of its own nothing that it starts can ask there.
            process = subprocess.Popen(
                [search_path.program("git"), *arguments],
                cwd=self.top,
                env=environ,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if said else subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise GitError(gettext("git could not be started: %(error)s") % {"error": error}) from error
        try:
            if watch:
                output, errors = watch.follow(process, seconds), b""
            else:
                output, errors = process.communicate(stdin, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            _end(process)
            raise GitError(
                gettext("git %(arguments)s took longer than %(seconds)s seconds, and was ended.")
                % {"arguments": arguments[0], "seconds": f"{seconds:g}"}
            ) from error
        if process.returncode not in fine:
            raise GitError(self._words(output if said else errors, process.returncode))
        return output

    def _words(self, output: bytes, code: int) -> str:
        """What git said, and where a lock stands in the way who holds it."""
        text = words(output.decode("utf-8", "replace")) or gettext("git ended with %(code)s.") % {
            "code": code
        }
        lock = _LOCK.search(text)
        if lock is None or "exists" not in text:
            return text
        return f"{text}\n{_who(self.top / (lock[1] or f'{lock[2]}.lock'), self.top)}"


class Watch:
    """Hears what git says as it comes, and can end it. `heard` is called in the thread that waits for git,
    with what a person reads of it so far."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def stop(self) -> None:
        """From any thread, also before git has begun."""
        with self._lock:
            self._stopped = True
            if self._process and self._process.poll() is None:
                _signal(self._process, signal.SIGTERM)

    def follow(self, process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """All that it says until it ends. Raises GitError where it was stopped, TimeoutExpired."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        with self._lock:
            self._process = process
            if self._stopped:
                _signal(process, signal.SIGTERM)
        output = bytearray()
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector, process.stdout as stream:
            selector.register(stream, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, end - time.monotonic())):
                    raise subprocess.TimeoutExpired(process.args, seconds)
                piece = os.read(stream.fileno(), _PIECE)
                if not piece:
                    break
                output += piece
                self._heard(words(output[-_PIECE:].decode("utf-8", "replace")))
        process.wait()
        if self._stopped:
            raise GitError("Stopped.")
        return bytes(output)


def words(text: str) -> str:
    """What a person reads of git's output: of a line that was written over and over, the last state."""
    lines = [line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n")]
    return "\n".join(lines).strip()


def _who(lock: Path, top: Path) -> str:
    if found := holders(lock, "git", top):
        return gettext("It is held by %(found)s. Try again when that has ended.") % {
            "found": ", ".join(found)
        }
    with suppress(OSError):
        age = max(time.time() - lock.stat().st_mtime, 0)
        return gettext(
            "No running program has it open; it is %(age)s seconds old, left by one that was cut off."
        ) % {"age": f"{age:,.0f}"}
    return gettext("It is gone by now: try again.")


def _environment() -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or _OWN.fullmatch(name)
    }
    return kept | {
        "PATH": search_path.configured(),  # for filters
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GIT_EDITOR": ":",
        "GIT_SEQUENCE_EDITOR": ":",
        "GIT_PAGER": "cat",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_ALLOW_PROTOCOL": PROTOCOLS,
        "LC_ALL": "C.UTF-8",
    }


def _configured(settings: Sequence[Setting]) -> dict[str, str]:
    """Configuration as variables: a name may have a `=` in it."""
    names = {f"GIT_CONFIG_KEY_{number}": name for number, (name, _) in enumerate(settings)}
    values = {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings)}
    return {"GIT_CONFIG_COUNT": str(len(settings)), **names, **values}


def _end(process: subprocess.Popen[bytes]) -> None:
    _signal(process, signal.SIGTERM)
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """To it and to all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
