"""The first process of a sandbox: it starts the programs of a session and sees to it that none gets away.

Each program has a supervisor of its own, to which falls whatever of it has lost its parent (prctl(2),
PR_SET_CHILD_SUBREAPER): so all of a program is found below its supervisor, however it hid. What falls to the
first process itself has got away from a supervisor that was killed, and is ended. With the first process all
others end (pid_namespaces(7)).

It is handed to Python as text and imports little, as it stays. `box.py` is the other end of its socket.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
import sys
from typing import Any

READY, LISTEN, RUN = b"ready", b"listen", b"run"
PORTS, SOCKET = b"ports", {socket.AF_INET: b"socket", socket.AF_INET6: b"socket6"}
_LISTENS = "0A"  # proc(5), as linux/include/net/tcp_states.h has it
_DUMPABLE, _SUBREAPER = 4, 36
_MOST_PORTS = 500  # go into one message
_prctl = ctypes.CDLL(None, use_errno=True).prctl


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    _prctl(_DUMPABLE, 0, 0, 0, 0)  # no program of the same user may look into it or take its descriptors
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writing)
    signal.signal(signal.SIGCHLD, _nothing)
    waiting, supervisors = select.poll(), set[int]()
    for place in (control.fileno(), reading):
        waiting.register(place, select.POLLIN)
    control.send(READY)
    while True:
        ready = [place for place, _ in waiting.poll()]
        if reading in ready:
            os.read(reading, 4096)
            supervisors -= _ended()
            _end_who_got_away(supervisors)
        if control.fileno() in ready:
            message, places, *_ = socket.recv_fds(control, 64, 2, socket.MSG_CMSG_CLOEXEC)
            if not message:
                return
            if message != RUN:
                _answer(message, control)
                continue
            pid = os.fork()
            if not pid:
                control.close()
                _supervise(socket.socket(fileno=places[0]), places[1])
            supervisors.add(pid)
            for place in places:
                os.close(place)


def _answer(message: bytes, control: socket.socket) -> None:
    if message == LISTEN:
        _listen(control)
    elif message == PORTS:
        control.send(json.dumps(_ports()).encode())
    for family, wanted in SOCKET.items():
        if message == wanted:
            with socket.socket(family) as made:
                socket.send_fds(control, [message], [made.fileno()])


def _listen(control: socket.socket) -> None:
    """Hand out a socket that listens on the loopback in here."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        port = server.getsockname()[1]
        socket.send_fds(control, [str(port).encode()], [server.fileno()])


def _ports() -> list[tuple[int, int]]:
    """Those that are listened on, each with the family of its address."""
    found = []
    for name, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        try:
            with open(f"/proc/self/net/{name}") as file:
                rows = [line.split() for line in file][1:]
        except OSError:
            continue
        found += [(int(row[1].rpartition(":")[2], 16), int(family)) for row in rows if row[3] == _LISTENS]
    return found[:_MOST_PORTS]


def _nothing(*_: object) -> None:
    """A signal that is caught here is not ignored in what is started."""


def _ended() -> set[int]:
    """The children that have."""
    found: set[int] = set()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if not pid:
            return found
        found.add(pid)


def _end_who_got_away(supervisors: set[int]) -> None:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in supervisors and _parent(name) == os.getpid():
            os.kill(int(name), signal.SIGKILL)


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except OSError:
        return 0


def _supervise(talk: socket.socket, output: int) -> None:
    """Start what the other end of `talk` asks for, and stay until all of it has ended."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, _nothing)  # it ends when what it supervises has ended
        _prctl(_SUBREAPER, 1, 0, 0, 0)
        os.setsid()
        asked = json.loads(_received(talk))
        try:
            pid = _start(asked["argv"], asked["cwd"], asked["env"], output)
        except OSError as error:
            _say(talk, failed=f"{error.filename or asked['argv'][0]}: {error.strerror}")
            return
        _say(talk, started=pid)
        os.close(output)
        code = _reap(pid)
        _say(talk, code=code, over=not _has_children())
        while True:
            os.waitpid(-1, 0)
    except (ChildProcessError, ConnectionError):
        pass
    finally:
        os._exit(0)


def _reap(wanted: int) -> int:
    """Until this child has ended, and with whatever does before; its exit code."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == wanted:
            return os.waitstatus_to_exitcode(status)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _received(talk: socket.socket) -> bytes:
    size = int.from_bytes(talk.recv(4, socket.MSG_WAITALL), "big")
    return talk.recv(size, socket.MSG_WAITALL)


def _say(talk: socket.socket, **words: Any) -> None:
    talk.sendall(json.dumps(words).encode() + b"\n")


def _start(argv: list[str], cwd: str, env: dict[str, str], output: int) -> int:
    os.chdir(cwd)
    os.environ["PATH"] = env.get("PATH", os.defpath)  # where a program is looked for
    return os.posix_spawnp(
        argv[0],
        argv,
        env,
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
        ],
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
    )


if __name__ == "__main__":
    main()
