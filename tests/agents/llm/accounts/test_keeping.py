from __future__ import annotations

import json
from pathlib import Path

import pytest

from agents.llm.accounts import keeping
from agents.llm.accounts.flows.base import InvalidInput, SignInFailed


async def test_a_key_is_kept_and_forgotten(auth_files: list[Path]) -> None:
    await keeping.keep("groq", {"type": "api", "key": " gsk_0123456789 "}, "Mine")

    assert json.loads(auth_files[0].read_text()) == {
        "groq": {"type": "api", "key": "gsk_0123456789", "metadata": {"label": "Mine"}}
    }
    assert auth_files[0].stat().st_mode & 0o777 == 0o600
    entry = (await keeping.entries())["groq"]
    assert (keeping.ending(entry), keeping.label_of(entry)) == ("6789", "Mine")
    await keeping.relabel("groq", "Ours")
    assert keeping.label_of((await keeping.own())["groq"]) == "Ours"
    await keeping.forget("groq")
    await keeping.forget("groq")
    assert await keeping.entries() == {}


@pytest.mark.parametrize("key", ["", "  \n", "two\nlines", "nul\0", "x" * 20_001, "a\u2028b"])
async def test_what_can_be_no_key_is_refused_without_being_told(auth_files: list[Path], key: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await keeping.keep("groq", {"type": "api", "key": key})
    assert caught.value.field == "key"
    assert not key.strip() or key not in str(caught.value)
    assert not auth_files[0].exists()


@pytest.mark.parametrize("name", ["", "/", "a\nb", "x" * 301])
async def test_a_provider_needs_a_name(auth_files: list[Path], name: str) -> None:
    with pytest.raises(InvalidInput, match="no name"):
        await keeping.keep(name, {"type": "api", "key": "k"})
    assert not auth_files[0].exists()


async def test_opencodes_own_file_is_read_and_never_written(auth_files: list[Path]) -> None:
    text = json.dumps({"groq": {"type": "api", "key": "theirs"}})
    auth_files[1].write_text(text)

    assert list(await keeping.entries()) == ["groq"]
    assert await keeping.own() == {}
    await keeping.relabel("groq", "Ours")
    await keeping.forget("groq")

    assert auth_files[1].read_text() == text
    assert not auth_files[0].exists()


async def test_a_file_that_cannot_be_read_is_not_overwritten(auth_files: list[Path]) -> None:
    auth_files[0].parent.mkdir()
    auth_files[0].write_text("{")
    with pytest.raises(SignInFailed, match="line 1"):
        await keeping.keep("groq", {"type": "api", "key": "k"})
    assert auth_files[0].read_text() == "{"


def test_of_a_short_key_nothing_is_shown() -> None:
    assert keeping.ending({"type": "api", "key": "short"}) == ""
