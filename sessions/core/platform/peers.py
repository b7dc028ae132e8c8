"""Whether the program at the other end of a connection is one that the agent runs.

Its commands are known by their process groups' leaders, by a variable of their environment, and by descent:
what they start is theirs, also in the background. docs/decisions/0024-out-of-reach.md says what is not seen.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager, suppress
from functools import cache

from django.conf import settings

from sessions.core import variables

MARK = variables.AGENT.name
"""The variable; its value names the installation whose agent it is, so that another's server may be tried."""

Address = tuple[str, int]
_GONE = "0"
_SECONDS = 1.0


class Commands:
    """The commands that this process runs for the agent, and those of other processes of the installation.

    Methods may be called from any thread; `own` blocks, for about a millisecond on Linux.
    """

    def __init__(self, installation: str) -> None:
        self.variable: Mapping[str, str] = {MARK: installation}
        """What a command is started with."""
        self._mark = f"{MARK}={installation}".encode()
        self._lock = threading.Lock()
        self._begun = threading.Condition(self._lock)
        self._beginning: set[object] = set()
        self._leaders: set[int] = set()

    @contextmanager
    def starting(self) -> Iterator[Callable[[int], None]]:
        """While a command is started; what this gives is told its number, which leads a session of its own
        (setsid(2)). It may connect before that."""
        start = object()
        with self._lock:
            self._beginning.add(start)
        try:
            yield self.started
        finally:
            with self._begun:
                self._beginning.discard(start)
                self._begun.notify_all()

    def started(self, leader: int) -> None:
        with self._lock:
            self._leaders.add(leader)

    def own(self, client: Address, server: Address) -> bool:
        """Whether one of them is the client of a TCP connection to this process, or the client has ended
        without waiting for the answer. False where that cannot be told: for another machine, a container."""
        look = self._linux if sys.platform == "linux" else self._elsewhere
        with self._lock:
            starts = set(self._beginning)
        if look(client, server):
            return True
        if not starts:
            return False
        with self._begun:  # it may be of one of those, whose number is not known yet
            self._begun.wait_for(lambda: starts.isdisjoint(self._beginning), _SECONDS)
        return look(client, server)

    def members(self) -> set[int]:
        """The processes of those commands, as far as they can be seen. Blocks."""
        return self._members(_marked(self._mark) if sys.platform == "linux" else self._marked_elsewhere())

    def _linux(self, client: Address, server: Address) -> bool:
        inode = _socket(client, server)
        if inode in (None, _GONE):
            return inode == _GONE
        hidden = False
        for pid in (theirs := self._members(_marked(self._mark))):
            holds = _holds(pid, f"socket:[{inode}]")
            if holds:
                return True
            hidden = hidden or holds is None
        if hidden:  # one of them does not let us look: is it nobody else's?
            others = (pid for pid in _numbers() if pid not in theirs)
            return not any(_holds(pid, f"socket:[{inode}]") for pid in others)
        return _socket(client, server) == _GONE

    def _elsewhere(self, client: Address, server: Address) -> bool:
        import psutil

        for pid in self._members(self._marked_elsewhere()):
            with suppress(psutil.Error, OSError):
                for one in psutil.Process(pid).net_connections("tcp"):
                    if (one.laddr, one.raddr) == (client, server):
                        return True
        return False

    def _marked_elsewhere(self) -> set[int]:
        import psutil

        marked = set()
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self.variable[MARK]:
                    marked.add(process.pid)
        return marked

    def _members(self, marked: set[int]) -> set[int]:
        """With those of the leaders' sessions, and all their descendants."""
        with self._lock:
            sessions = {pid: _session(pid) for pid in _all()} if self._leaders else {}
            self._leaders &= sessions.keys() | set(sessions.values())
            found = marked | {pid for pid, leader in sessions.items() if {pid, leader} & self._leaders}
        return _with_descendants(found)


@cache
def commands() -> Commands:
    """Those of this installation."""
    return Commands(settings.INSTALLATION)


def family(leaders: Set[int]) -> set[int]:
    """The processes of the sessions (setsid(2)) that these lead, and all their descendants. Blocks."""
    return _with_descendants({pid for pid in _all() if {pid, _session(pid)} & leaders} if leaders else set())


def _with_descendants(found: set[int]) -> set[int]:
    if not found:
        return found
    parents = _parents()
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _all() -> Iterator[int]:
    if sys.platform == "linux":
        return _numbers()
    import psutil

    return iter(psutil.pids())


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _parents() -> dict[int, int]:
    import psutil  # some milliseconds: not before a command of the agent's runs while somebody connects

    found = psutil.process_iter(["ppid"])
    return {process.pid: process.info["ppid"] or 0 for process in found}


def _numbers() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(name) for name in os.listdir("/proc") if name.isdigit())


def _marked(mark: bytes) -> set[int]:
    found = set()
    for pid in _numbers():
        with suppress(OSError), open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
            if mark in (file.readall() or b"").split(b"\0"):
                found.add(pid)
    return found


def _holds(pid: int, name: str) -> bool | None:
    """Whether a process has this file open; None where that is not shown."""
    try:
        files = os.listdir(f"/proc/{pid}/fd")
    except PermissionError:
        return None
    except OSError:
        return False
    for file in files:
        with suppress(OSError):
            if os.readlink(f"/proc/{pid}/fd/{file}") == name:
                return True
    return False


def _socket(client: Address, server: Address) -> str | None:
    """The inode of the client's socket, 0 when nobody has it any longer; None when it is not here."""
    try:
        return asked(client, server)
    except OSError:
        return in_table(client, server)


_DIAGNOSIS, _BY_FAMILY, _REQUEST, _ERROR = 4, 20, 1, 2
_HEADER, _QUESTION, _PORTS = struct.Struct("=IHHII"), struct.Struct("=BBBBI"), struct.Struct(">HH")
_INODE = _HEADER.size + 68
_LISTENS = 10


def asked(client: Address, server: Address) -> str | None:
    """The same by sock_diag(7), for the one socket. Raises OSError where the kernel does not answer."""
    family = socket.AF_INET6 if ":" in client[0] else socket.AF_INET
    ends = (socket.inet_pton(family, host.partition("%")[0]).ljust(16, b"\0") for host, _ in (client, server))
    place = _PORTS.pack(client[1], server[1]) + b"".join(ends)
    question = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + place + bytes(4) + b"\xff" * 8
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, _DIAGNOSIS) as kernel:
        kernel.settimeout(_SECONDS)
        kernel.send(_HEADER.pack(_HEADER.size + len(question), _BY_FAMILY, _REQUEST, 0, 0) + question)
        answer = kernel.recv(4096)
    _, kind, *_ = _HEADER.unpack_from(answer)
    if kind == _ERROR:
        (code,) = struct.unpack_from("=i", answer, _HEADER.size)
        if -code != errno.ENOENT:
            raise OSError(-code, os.strerror(-code))
        return None
    if answer[_HEADER.size + 1] == _LISTENS:
        return None
    return str(struct.unpack_from("=I", answer, _INODE)[0])


def in_table(client: Address, server: Address) -> str | None:
    """The same by proc_net(5), which the kernel writes in some milliseconds."""
    for family, table in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        try:
            wanted = f" {_written(family, client)} {_written(family, server)} ".encode()
            with open(f"/proc/net/{table}", "rb") as lines:
                _, found, rest = lines.read().partition(wanted)  # there may be thousands
            if found:
                return rest.split(maxsplit=7)[6].decode()
        except (OSError, ValueError):
            continue
    return None


def _written(family: int, address: Address) -> str:
    """As the kernel writes it: words of 32 bits in the machine's own order."""
    host, port = address
    if family == socket.AF_INET6 and ":" not in host:
        host = f"::ffff:{host}"
    packed = socket.inet_pton(family, host)
    words = (packed[start : start + 4] for start in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"
