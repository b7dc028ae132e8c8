"""Who is at the other end of a connection: real programs, started in the ways that would hide them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sessions.core.platform.peers import MARK, Commands, asked, in_table
from tests.hostile.disguises import DISGUISES, INNOCENT

pytestmark = pytest.mark.proc
OURS = "opencode-web-of-this-test"
CONNECT = """
import socket, sys, time
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.sendall(b"x")
connection.recv(1)
"""


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(20)
        yield listening


@pytest.fixture
def commands() -> Commands:
    return Commands(OURS)


@contextmanager
def connected(
    server: socket.socket, line: str, variables: dict[str, str]
) -> Iterator[tuple[socket.socket, int]]:
    """What a line of the shell has connected, and the leader that was started for it."""
    environ = {
        "PATH": os.environ["PATH"],
        "PYTHON": sys.executable,
        "CONNECT": CONNECT,
        "PORT": str(server.getsockname()[1]),
        **variables,
    }
    with subprocess.Popen(["bash", "-c", line], env=environ, start_new_session=True) as process:
        connection, _ = server.accept()
        with connection:
            connection.recv(1)
            yield connection, process.pid


def ends(connection: socket.socket) -> tuple[tuple[str, int], tuple[str, int]]:
    return connection.getpeername()[:2], connection.getsockname()[:2]


@pytest.mark.parametrize("line", DISGUISES)
def test_a_command_of_the_agent_is_known(server: socket.socket, commands: Commands, line: str) -> None:
    with connected(server, line, dict(commands.variable)) as (connection, leader):
        commands.started(leader)
        assert commands.own(*ends(connection))


def test_a_command_that_connects_before_its_number_is_known(
    server: socket.socket, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, found, look = threading.Event(), [], commands._linux

    def looks(*ends: tuple[str, int]) -> bool:
        told = look(*ends)
        looked.set()
        return told

    monkeypatch.setattr(commands, "_linux", looks)
    line = 'exec env -i "$PYTHON" -c "$CONNECT" "$PORT"'
    with connected(server, line, {}) as (connection, leader):
        asking = threading.Thread(target=lambda: found.append(commands.own(*ends(connection))))
        with commands.starting() as leads:
            asking.start()
            assert looked.wait(20)
            leads(leader)
        asking.join()
    assert found == [True]


@pytest.mark.parametrize("line", INNOCENT)
def test_other_programs_are_not(server: socket.socket, commands: Commands, line: str) -> None:
    with subprocess.Popen(["sleep", "60"], env=dict(commands.variable), start_new_session=True) as other:
        commands.started(other.pid)
        with connected(server, line, {MARK: "opencode-web-of-another"}) as (connection, _):
            assert not commands.own(*ends(connection))
        other.kill()


def test_a_client_that_does_not_wait_for_the_answer_is_nobody_that_can_be_trusted(
    server: socket.socket, commands: Commands
) -> None:
    client = socket.create_connection(server.getsockname())
    connection, _ = server.accept()
    with connection:
        assert not commands.own(*ends(connection))
        client.close()
        assert commands.own(*ends(connection))


def test_another_machine_is_not_looked_for(commands: Commands) -> None:
    assert not commands.own(("192.0.2.7", 40000), ("127.0.0.1", 1))
    assert not commands.own(("2001:db8::1", 40000), ("::1", 1))
    assert not commands.own(("not an address", 0), ("127.0.0.1", 1))


def test_where_there_is_no_proc_the_other_way_finds_them(server: socket.socket, commands: Commands) -> None:
    line = 'exec "$PYTHON" -c "$CONNECT" "$PORT"'
    with connected(server, line, dict(commands.variable)) as (connection, _):
        assert commands._elsewhere(*ends(connection))
    with connected(server, line, {}) as (connection, _):
        assert not commands._elsewhere(*ends(connection))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel is asked on Linux alone")
@pytest.mark.parametrize(
    ("family", "host", "told"),
    [
        (socket.AF_INET, "127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::1", "::1"),
        (socket.AF_INET6, "::ffff:127.0.0.1", "127.0.0.1"),
        (socket.AF_INET6, "::ffff:127.0.0.1", "::ffff:127.0.0.1"),
    ],
)
def test_the_kernel_says_of_a_connection_what_its_table_does(family: int, host: str, told: str) -> None:
    with socket.socket(family) as listening, socket.socket(family) as client:
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        listening.bind((host, 0))
        listening.listen()
        client.connect(listening.getsockname())
        server, _ = listening.accept()
        with server:
            here, there = (told, client.getsockname()[1]), (told, server.getsockname()[1])
            assert asked(here, there) == in_table(here, there) == str(os.fstat(client.fileno()).st_ino)
            assert asked(there, here) == in_table(there, here) == str(os.fstat(server.fileno()).st_ino)
            assert asked((told, 1), there) is None is in_table((told, 1), there)
            client.close()
            assert server.recv(1) == b""
            assert asked(here, there) == in_table(here, there) == "0", "nobody has it any longer"
    with socket.socket(family) as listening:
        listening.bind((host, 0))
        listening.listen()
        assert asked((told, listening.getsockname()[1]), (told, 1)) is None, "it only listens there"
