"""Finding a server, starting one, and what is left of it afterwards: nothing."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import pytest

from opencode_web.bridge.remote.client import Address, address
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.launcher import Launcher, Wanted, wanted
from opencode_web.bridge.remote.link import MAX_RECONNECTIONS, Link
from tests.opencode_web.bridge.remote.answers import Answer, Answers
from tests.server import NOWHERE, ROOT

NOBODY = Address(NOWHERE)
COMMAND = (sys.executable, "-m", "tests.opencode_web.bridge.remote.standin")


def standin(directory: str = str(ROOT)) -> Wanted:
    return Wanted(None, NOBODY, directory, COMMAND)


def alive(pid: int) -> bool:
    """Whether it runs; one that has ended and that nobody asks about does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def test_a_server_that_answers_is_taken() -> None:
    async with Answers(Answer(body='{"healthy": true}')) as server:
        here = Address(server.url, password="x")
        launcher = Launcher(Wanted(None, here))
        assert await launcher.find() == here
        assert launcher.child is None


async def test_the_password_of_a_named_server_has_to_be_right() -> None:
    async with Answers(Answer(401)) as server:
        named = Launcher(Wanted(Address(server.url), NOBODY, command=COMMAND))
        with pytest.raises(RemoteError, match="refuses the password") as caught:
            await named.find()
        assert caught.value.category == "auth"
        assert named.child is None


@pytest.mark.parametrize("body", ["<html>", "[]", '{"healthy": false}'])
async def test_what_answers_otherwise_is_no_server(body: str) -> None:
    async with Answers(Answer(body=body)) as server:
        with pytest.raises(RemoteError) as caught:
            await Launcher(Wanted(None, Address(server.url), start=False)).find()
    assert caught.value.category == "unreachable"


async def test_a_server_elsewhere_is_never_replaced_by_one_here() -> None:
    launcher = Launcher(Wanted(Address("http://localhost.invalid:9"), NOBODY, command=COMMAND))
    with pytest.raises(RemoteError) as caught:
        await launcher.find()
    assert caught.value.category == "unreachable"
    assert launcher.child is None


async def test_one_is_started_with_a_password_and_ended() -> None:
    async with Link(standin()) as link:
        pid = await link.get("/pid")
        assert link.launcher.child is not None
        found = await link.client()
        assert len(found.address.password) >= 32
        assert found.address.password not in repr(found.address)
        assert alive(pid)
    assert not alive(pid)


async def test_a_program_in_a_wrapper_is_ended_with_it() -> None:
    """The shell waits for its child and hands no signal on."""
    wrapper = ("sh", "-c", f'{shlex.join(COMMAND)} "$@"; true', "sh")
    async with Link(Wanted(None, NOBODY, str(ROOT), wrapper)) as link:
        pid = await link.get("/pid")
        assert link.launcher.child is not None
        assert pid != link.launcher.child.pid
    assert not alive(pid)


async def test_one_that_does_not_listen_to_sigterm_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN", "deaf")
    monkeypatch.setattr("opencode_web.bridge.remote.launcher.GRACE_SECONDS", 0.1)
    async with Link(standin()) as link:
        pid = await link.get("/pid")
    assert not alive(pid)


async def test_one_that_cannot_begin_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDIN", "fails")
    async with Link(standin()) as link:
        with pytest.raises(RemoteError, match="the stand-in cannot begin") as caught:
            await link.get("/pid")
    assert caught.value.category == "unreachable"
    async with Link(Wanted(None, NOBODY, None, ("/no/such/program",))) as link:
        with pytest.raises(RemoteError, match="cannot be started"):
            await link.get("/pid")


async def test_a_server_that_falls_is_started_again_three_times() -> None:
    pids = set()
    async with Link(standin()) as link:
        for _ in range(MAX_RECONNECTIONS):
            pids.add(await link.get("/pid"))
            with pytest.raises(RemoteError, match="is not known"):
                await link.post("/fall")  # it was sent: whether it was carried out is not known
        last = await link.get("/pid")
        with pytest.raises(RemoteError, match="3 times already"):
            await link.get("/fall")
    assert len(pids | {last}) == MAX_RECONNECTIONS + 1
    assert not any(map(alive, pids | {last}))


def test_what_is_wanted_comes_from_the_command_line_then_the_environment() -> None:
    environ = {
        "HOME": os.environ["HOME"],
        "OPENCODE_BASE_URL": "http://other.example:1",
        "OPENCODE_SERVER_USERNAME": "me",
        "OPENCODE_SERVER_PASSWORD": "word",
        "OPENCODE_COMMAND": "opencode serve --pure",
        "OPENCODE_AUTO_SERVE": "false",
    }
    found = wanted(environ, "http://a.example/base/", "/srv")
    assert found.named == Address("http://a.example/base", "me", "word")
    assert found.command == ("opencode", "serve", "--pure")
    assert (found.directory, found.start) == ("/srv", False)
    assert wanted(environ).named == Address("http://other.example:1", "me", "word")


def test_our_own_secret_goes_to_this_machine_only() -> None:
    environ = {name: os.environ[name] for name in ("HOME", "XDG_DATA_HOME")}
    here, elsewhere = wanted(environ, "http://127.0.0.1:1").named, wanted(environ, "http://a.example").named
    assert here is not None
    assert here.password == wanted(environ).default.password != ""
    assert elsewhere is not None
    assert elsewhere.password == ""


def test_an_address_may_carry_credentials() -> None:
    assert address("http://me:a%40b@host:1/", "you", "x") == Address("http://host:1", "me", "a@b")
    assert address("127.0.0.1:4096").url == "http://127.0.0.1:4096"
    for wrong in ("ftp://host", "http://", "http://host:port"):
        with pytest.raises(ValueError, match=r"address|[Pp]ort"):
            address(wrong)
