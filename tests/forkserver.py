"""`python -m MODULE …` without the second that a server's imports take: forked off a process that did them.

A module that reads at import what depends on a server's own environment is imported by each of them. What a
process was first given (/proc/PID/environ and cmdline) is the forking process's: who looks at that starts one
anew.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import django
from django.apps import apps
from django.conf import global_settings, settings
from django.db import connections
from django.db.utils import ConnectionHandler
from django.utils.functional import empty

from opencode_web import locate

LOADED = """
import sys
import contextlib
from opencode_web.cli import setup, start
with contextlib.suppress(setup.Stop):  # the database of a team is another one's
    setup.prepare_django()
import opencode_web.asgi, opencode_web.site.background
import opencode_web.site.api_urls, opencode_web.site.api_v2_urls, opencode_web.urls, agents.agent.consumer
from sessions.web import lazy
lazy.load_all()
import agents.answers, anyio._backends._asyncio, encodings.idna, httpx, psutil
import opencode_web.cli.commands.run
print(*sys.modules)
"""
"""Prints what a server has imported after its first requests and its first turn, and a command beside it."""
REACTOR = ("daphne.server", "twisted.internet.reactor")
"""Make an event loop when they are imported, which two processes cannot share."""
SETTINGS = "opencode_web.settings"
OF_THE_ENVIRONMENT = {"SECRET_KEY", "DATABASES"}
"""Of Django's own settings. All of ours may be: there are none while modules are imported beforehand."""
OF_PACKAGES = ("ACCOUNT_", "MFA_", "SOCIALACCOUNT_")
"""How names of settings begin that applications read when they are imported."""
OURS = "opencode_web."
NUMBER = 16
"""Bytes of a number that the forking process answers: one does not run into the next."""


class ForkServer:
    """The forking process; it ends with this one. `environ` is its own: with a home that has a database, and
    with what decides which applications are installed."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            subprocess.Popen([sys.executable, "-m", __name__], stdin=theirs.fileno(), env=environ)

    def start(
        self,
        module: str,
        arguments: Sequence[str],
        environ: Mapping[str, str],
        cwd: Path,
        files: Sequence[IO[str]],
    ) -> Forked:
        """`files` are its standard input, output and errors."""
        line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            descriptors = [theirs.fileno(), *(file.fileno() for file in files)]
            socket.send_fds(self._control, [b"1"], descriptors)
        line.sendall(json.dumps([module, arguments, dict(environ), str(cwd)]).encode() + b"\n")
        return Forked(line)


class Forked:
    """A process; what it has of `subprocess.Popen` is the same."""

    def __init__(self, line: socket.socket) -> None:
        self.pid = int(line.recv(NUMBER, socket.MSG_WAITALL))
        self.stdout: IO[str] | None = None
        self.returncode: int | None = None
        self._line = line

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._line], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self.returncode = int(self._line.recv(NUMBER, socket.MSG_WAITALL))
            self._line.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _import_all() -> None:
    loaded = subprocess.run([sys.executable, "-c", LOADED], stdout=subprocess.PIPE, text=True, check=True)
    own = importlib.import_module(SETTINGS)
    names = set(dir(own)) & set(dir(global_settings)) - OF_THE_ENVIRONMENT
    names |= {name for name in dir(own) if name.startswith(OF_PACKAGES)}
    values = {name: getattr(own, name) for name in names if name.isupper()}
    settings.configure(**values, NODE="")  # of which an application asks when it is ready
    django.setup()
    modules: dict[str, Any] = sys.modules
    modules.update(dict.fromkeys(REACTOR))
    for name in loaded.stdout.split():
        with suppress(Exception):  # it is imported where it can be
            importlib.import_module(name)
    for name in (SETTINGS, *REACTOR):
        del sys.modules[name]


class _Forking:
    """The children that run: for each the descriptor that tells of its end, and whom to tell its status."""

    def __init__(self) -> None:
        self.control = socket.socket(fileno=0)
        self.running: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> str:
        """Fork for whoever asks. Return only in the children, with the module that each is to run."""
        while True:
            ready, _, _ = select.select([self.control.fileno(), *self.running], [], [])
            for descriptor in ready:
                if descriptor in self.running:
                    self._end(descriptor)
                elif module := self._fork():
                    return module

    def _end(self, descriptor: int) -> None:
        pid, line = self.running.pop(descriptor)
        os.close(descriptor)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with line, suppress(OSError):  # who asked is gone
            line.send(b"%-*d" % (NUMBER, status))

    def _fork(self) -> str:
        """The module, in the child. End when nobody can ask any more."""
        _, given, _, _ = socket.recv_fds(self.control, 1, 4)
        if not given:
            sys.exit()
        line = socket.socket(fileno=given[0])
        with line.makefile("rb") as asked:
            module, arguments, environ, cwd = json.loads(asked.readline())
        if pid := os.fork():
            for descriptor in given[1:]:
                os.close(descriptor)
            line.send(b"%-*d" % (NUMBER, pid))
            self.running[os.pidfd_open(pid)] = (pid, line)
            return ""
        line.close()
        for descriptor, (_, other) in self.running.items():
            os.close(descriptor)
            other.close()
        self.control.detach()  # number 0
        for number, descriptor in enumerate(given[1:]):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.chdir(cwd)
        _become(arguments, environ)
        return str(module)


def _become(arguments: Sequence[str], environ: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environ)
    sys.argv[1:] = arguments
    locate.use_root()
    settings._wrapped = empty
    vars(connections).clear()  # it has read them
    ConnectionHandler.__init__(connections)
    vars(apps)["populate"] = _ready


def _ready(_: object) -> None:
    """In the place of `apps.populate`, which has done all else: `django.setup` calls it once a process has
    its settings."""
    for config in apps.get_app_configs():
        if config.name.startswith(OURS):
            config.ready()


class _Program:
    """A child's. It ends without taking down all that was imported, which takes longer than its own end."""

    def __init__(self) -> None:
        self._status: int | None = None
        atexit.register(self._leave)  # before any other, so that it is called last

    def run(self, module: str) -> None:
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
            self._status = 0
        except SystemExit as end:
            self._status = end.code if isinstance(end.code, int) else int(end.code is not None)
            raise

    def _leave(self) -> None:
        if self._status is not None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(self._status)


if __name__ == "__main__":
    program = _Program()
    _import_all()
    gc.freeze()  # or each child copies the pages of all that is imported
    program.run(_Forking().serve())
