"""Whether the sandbox holds on this machine: what it must forbid is tried in it, once for each process."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.toolkit.sandbox import bubblewrap
from agents.toolkit.sandbox.policy import environment, policy
from sessions.core import paths
from sessions.core.sentences import Sentence

SECONDS = 20
_RESTRICTED = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
_NONE = Sentence("there is no bubblewrap here. Install the package `bubblewrap` of your system.")
_APPARMOR = Sentence(
    "AppArmor lets no program make namespaces here. Allow it for bubblewrap by a profile in /etc/apparmor.d "
    "(`abi <abi/4.0>, profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }`)."
)
_CONTAINER = gettext_noop(
    "namespaces cannot be made here, as in a container with the default rules: %(said)s"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was tried, and whether it went as it must."""

    what: str
    allowed: bool
    held: bool

    @property
    def said(self) -> str:
        """In a word or two."""
        if self.allowed:
            return gettext("works") if self.held else gettext("does not work")
        return gettext("refused") if self.held else gettext("NOT refused")


@dataclass(frozen=True, slots=True)
class Found:
    """What the probe showed. `words`, after "and": why there is no sandbox, and what mends it."""

    backend: str
    lines: tuple[Line, ...] = ()
    words: str = ""

    @property
    def holds(self) -> bool:
        """Whether programs may be run in it."""
        return not self.words


_TRIES = {
    gettext_noop("write in the workspace"): ("open('inside', 'w')", True),
    gettext_noop("write in a temporary folder"): ("open('/tmp/probe', 'w')", True),
    gettext_noop("write elsewhere"): ("open(elsewhere, 'w')", False),
    gettext_noop("write what configures agents"): ("open('opencode.json', 'w')", False),
    gettext_noop("write what git runs"): ("open('.git/hooks/post-commit', 'w')", False),
    gettext_noop("move what is held away"): ("os.rename('.git', 'git')", False),
    gettext_noop("set a switch of the kernel"): ("open('/proc/sys/kernel/core_pattern', 'r+')", False),
    gettext_noop("read the server's secret"): ("open(secret).read()", False),
    gettext_noop("reach a server of this machine"): (
        "socket.create_connection(('127.0.0.1', port), 2)",
        False,
    ),
    gettext_noop("send a signal to the server"): ("os.kill(pid, 0)", False),
}
"""What is tried, in Python, and whether it must succeed."""

_SCRIPT = """
import json, os, socket, sys
tries, workspace, elsewhere, secret, port, pid = json.loads(sys.argv[1])
os.chdir(workspace)
done = []
for code in tries:
    try:
        exec(code)
        done.append(True)
    except Exception:
        done.append(False)
print(json.dumps(done))
"""


def in_words(found: Found) -> list[str]:
    """For people: whether there is a sandbox, and each thing that was tried."""
    if not found.lines:
        return [f"Sandbox: not to be had here, as {found.words}"]
    head = f"Sandbox ({found.backend}): {'it holds here' if found.holds else found.words}"
    return [head, *(f"  {line.what}: {line.said}" for line in found.lines)]


@cache
def found() -> Found:
    """Blocks, for a tenth of a second."""
    return look()


def look() -> Found:
    """The same, done anew."""
    if sys.platform != "linux" or not bubblewrap.program():
        return Found("none", words=_NONE)
    with (
        tempfile.TemporaryDirectory(prefix="opencode-web-probe-") as folder,
        closing(socket.create_server(("127.0.0.1", 0))) as server,
    ):
        return _tried(Path(folder).resolve(), server.getsockname()[1])


def _tried(folder: Path, port: int) -> Found:
    workspace, temporary, elsewhere = folder / "workspace", folder / "temporary", folder / "elsewhere"
    for path in (workspace / ".git" / "hooks", temporary, elsewhere):
        path.mkdir(parents=True)
    paths.secret()
    around = policy([workspace], temporary)
    standing = around.missing()
    for path in standing:
        path.mkdir()
    empty = folder / "empty"
    empty.touch()
    tries = [code for code, _ in _TRIES.values()]
    secret = str(paths.data_directory() / "secret")
    told = json.dumps([tries, str(workspace), str(elsewhere / "file"), secret, port, os.getpid()])
    argv = [sys.executable, "-I", "-S", "-c", _SCRIPT, told]
    try:
        done = subprocess.run(
            bubblewrap.wrapped(argv, around, standing, empty),
            env=environment(os.environ),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        went = json.loads(done.stdout) if not done.returncode else None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return Found("bubblewrap", words=Sentence(_CONTAINER, said=error))
    if went is None:
        return Found("bubblewrap", words=_why(done.stderr.strip()))
    lines = tuple(
        Line(what, must, did is must) for (what, (_, must)), did in zip(_TRIES.items(), went, strict=True)
    )
    wrong = [line.what for line in lines if not line.held]
    return Found(
        "bubblewrap",
        lines,
        Sentence("it did not hold here: %(wrong)s.", wrong=", ".join(wrong)) if wrong else "",
    )


def _why(said: str) -> str:
    try:
        restricted = _RESTRICTED.read_text().strip() == "1"
    except OSError:
        restricted = False
    return _APPARMOR if restricted else Sentence(_CONTAINER, said=said[-300:] or Sentence("it said nothing"))
