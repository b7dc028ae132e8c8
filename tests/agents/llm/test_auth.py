from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from agents.llm.auth import keys_of, known_entries, read_entries, remove_key, save
from sessions.core.files import BrokenFile


def put(path: Path, content: Any, mode: int = 0o600) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    path.chmod(mode)
    return path


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_keys_are_read_and_the_first_file_wins(tmp_path: Path) -> None:
    ours = put(tmp_path / "ours", {"anthropic": {"type": "api", "key": " ours\n"}})
    theirs = put(
        tmp_path / "theirs",
        {
            "anthropic": {"type": "api", "key": "theirs"},
            "groq": {"type": "api", "key": "g"},
            "openai": {"type": "oauth", "access": "a", "refresh": "r", "expires": 0},
            "xai": {"type": "api", "key": ""},
            "zai": "nonsense",
        },
    )

    assert keys_of(read_entries([ours, tmp_path / "missing", theirs])) == {"anthropic": "ours", "groq": "g"}


def test_the_environment_takes_the_place_of_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = put(tmp_path / "auth.json", {"groq": {"type": "api", "key": "file"}})
    given = {"OPENCODE_AUTH_CONTENT": json.dumps({"xai": {"type": "api", "key": "given"}, "zai": {}})}
    assert keys_of(known_entries([file], given)) == {"xai": "given"}
    assert keys_of(known_entries([file], {})) == {"groq": "file"}
    assert keys_of(known_entries([file], {"OPENCODE_AUTH_CONTENT": "{no"})) == {"groq": "file"}
    assert "OPENCODE_AUTH_CONTENT is no JSON" in caplog.text


@pytest.mark.parametrize(
    ("content", "line"), [('{\n  "a": {},\n  oops\n}', 3), ("[1]", 1), ("[" * 100_000, 1), ("", 1)]
)
def test_a_broken_file_is_named_and_the_other_one_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str, line: int
) -> None:
    broken = put(tmp_path / "broken", content)
    good = put(tmp_path / "good", {"groq": {"type": "api", "key": "g"}})

    assert keys_of(read_entries([broken, good])) == {"groq": "g"}
    assert f"{broken}, line {line}:" in caplog.text


def test_no_text_at_all_is_no_reason_to_fail(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "auth.json"
    path.write_bytes(b"\xff\xfe{}")
    path.chmod(0o600)

    assert keys_of(read_entries([path])) == {}
    assert str(path) in caplog.text


def test_our_file_is_made_private_again_and_the_other_one_only_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ours = put(tmp_path / "ours", {"a": {"type": "api", "key": "secret-one"}}, mode=0o644)
    theirs = put(tmp_path / "theirs", {"b": {"type": "api", "key": "secret-two"}}, mode=0o640)

    with caplog.at_level(logging.WARNING):
        keys_of(read_entries([ours, theirs]))

    assert mode(ours) == 0o600
    assert mode(theirs) == 0o640
    assert {record.args[0] for record in caplog.records if isinstance(record.args, tuple)} == {ours, theirs}
    assert "secret" not in caplog.text


def test_a_key_is_saved_privately_beside_the_others_and_removed(tmp_path: Path) -> None:
    path = tmp_path / "data" / "auth.json"
    oauth = {"type": "oauth", "access": "a", "refresh": "r", "expires": 0}

    save(path, "anthropic", {"type": "api", "key": "one\n"})
    put(path, {**json.loads(path.read_text()), "openai": oauth}, mode=0o644)
    save(path, "groq", {"type": "api", "key": "two"})

    assert mode(path) == 0o600
    assert keys_of(read_entries([path])) == {"anthropic": "one", "groq": "two"}
    remove_key(path, "anthropic")
    remove_key(path, "nobody")
    assert json.loads(path.read_text()) == {"openai": oauth, "groq": {"type": "api", "key": "two"}}
    assert list(path.parent.iterdir()) == [path], "nothing temporary stays"


def test_a_broken_file_is_never_overwritten(tmp_path: Path) -> None:
    path = put(tmp_path / "auth.json", '{"anthropic": ')

    with pytest.raises(BrokenFile, match="line 1"):
        save(path, "groq", {"type": "api", "key": "two"})

    assert path.read_text() == '{"anthropic": '
