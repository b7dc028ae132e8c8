"""Ports of real processes."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessions.core.platform.listeners import listeners
from sessions.core.platform.peers import Commands, family

pytestmark = pytest.mark.proc
LISTEN = """
import socket, sys
listening = socket.create_server((sys.argv[1], int(sys.argv[2])), reuse_port=True)
print(listening.getsockname()[1], flush=True)
sys.stdin.read()
"""


@contextmanager
def listening(
    folder: Path, address: str, port: int = 0, line: str = "", variables: Mapping[str, str] | None = None
) -> Iterator[tuple[int, int]]:
    """The number of a program that listens, and the port."""
    command = [sys.executable, "-c", LISTEN, address, str(port)]
    with subprocess.Popen(
        ["sh", "-c", line, *command] if line else command,
        cwd=folder,
        env={**os.environ, **(variables or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        yield process.pid, int(process.stdout.readline())
        assert process.stdin
        process.stdin.close()


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])  # noqa: S104
def test_a_program_is_found_where_the_loopback_reaches_it(tmp_path: Path, address: str) -> None:
    with listening(tmp_path, address) as (pid, port):
        (found,) = listeners({pid})
        assert (found.port, found.address, found.folder) == (port, "127.0.0.1", tmp_path.resolve())
        assert found.program.startswith("python")
        assert listeners({os.getpid()}) == []
        assert listeners(set()) == []


def test_the_children_of_a_leader_are_its_family(tmp_path: Path) -> None:
    with listening(tmp_path, "127.0.0.1", line='"$0" "$@"; true') as (pid, port):
        assert [one.port for one in listeners(family({pid}))] == [port]


def test_a_port_of_our_own_is_left_out(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as own:
        port = own.getsockname()[1]
        with listening(tmp_path, "127.0.0.2", port) as (pid, _):
            assert listeners({pid}) == []


def test_where_somebody_else_answers_is_left_out(tmp_path: Path) -> None:
    with listening(tmp_path, "127.0.0.1") as (_, port), listening(tmp_path, "0.0.0.0", port) as (pid, _):  # noqa: S104
        assert listeners({pid}) == []


def test_commands_of_the_agent_are_known_by_their_mark(tmp_path: Path) -> None:
    commands = Commands("an-installation-of-this-test")
    with listening(tmp_path, "127.0.0.1", variables=commands.variable) as (pid, port):
        assert pid in commands.members()
        assert [one.port for one in listeners(commands.members())] == [port]
