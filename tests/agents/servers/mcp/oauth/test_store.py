"""The file of sign-ins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.servers.mcp.oauth import store
from agents.servers.mcp.oauth.store import Kept, exchange, forget, keep, kept
from sessions.core.files import BrokenFile, locked
from tests.agents.servers.mcp.oauth.conftest import remote

ONE, OTHER = remote("https://one.example/mcp"), remote("https://other.example/mcp")


def test_two_servers_of_one_name_do_not_take_each_others_tokens(files: list[Path]) -> None:
    keep(ONE, Kept("a"))
    keep(OTHER, Kept("b"))
    assert (kept(ONE), kept(OTHER)) == (Kept("a"), Kept("b"))
    assert json.loads(files[0].read_text())["protected"]["serverUrl"] == ONE.url
    assert forget(ONE)
    assert (kept(ONE), kept(OTHER)) == (None, Kept("b"))
    assert forget(OTHER)
    assert not forget(OTHER)


def test_what_opencode_writes_while_it_waits_is_no_sign_in(files: list[Path]) -> None:
    entry = {"clientInfo": {"clientId": "c"}, "codeVerifier": "v", "oauthState": "s", "serverUrl": ONE.url}
    files[1].write_text(json.dumps({"protected": entry}))
    assert kept(ONE) is None


def test_an_entry_is_changed_only_as_it_was_read(files: list[Path]) -> None:
    keep(ONE, Kept("new"))
    exchange(ONE, Kept("old"), None)
    exchange(ONE, Kept("old"), Kept("newer"))
    assert kept(ONE) == Kept("new")


@pytest.mark.parametrize("text", ["{", "[]", '{"protected": 7}', '{"protected": {"tokens": "x"}}'])
def test_a_broken_file_is_no_sign_in(files: list[Path], text: str) -> None:
    files[0].parent.mkdir()
    files[0].write_text(text)
    assert kept(ONE) is None
    if text in ("{", "[]"):
        with pytest.raises(BrokenFile):
            keep(ONE, Kept("a"))
        assert files[0].read_text() == text


def test_the_file_of_opencode_is_left_as_it_is(files: list[Path]) -> None:
    files[1].write_text(json.dumps({"protected": {"tokens": {"accessToken": "a"}, "serverUrl": ONE.url}}))
    files[1].chmod(0o644)
    assert kept(ONE) == Kept("a")
    assert files[1].stat().st_mode & 0o777 == 0o644
    assert not forget(ONE)


def test_only_one_renews_at_a_time(files: list[Path]) -> None:
    with locked(store.lock_file(ONE), wait=False):
        with pytest.raises(BlockingIOError), locked(store.lock_file(ONE), wait=False):
            pass
        with locked(store.lock_file(OTHER), wait=False):
            pass
    with locked(store.lock_file(ONE), wait=False):
        pass
