"""The trust store: exact contents, private, whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agents.config.trust.store import TrustStore, digest, name_in


def test_trust_is_for_exactly_this_content_of_this_project(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    one, two = tmp_path / "one", tmp_path / "two"
    store.grant(one, {"a.py": digest(b"a"), "b.py": digest(b"b")})
    assert store.holds(one, {"a.py": digest(b"a")})
    assert not store.holds(one, {"a.py": digest(b"A")})
    assert not store.holds(one, {"a.py": digest(b"a"), "c.py": digest(b"c")})
    assert not store.holds(two, {"a.py": digest(b"a")})
    store.grant(one, {"a.py": digest(b"A")})
    assert not store.holds(one, {"a.py": digest(b"a")})
    assert store.holds(one, {"a.py": digest(b"A"), "b.py": digest(b"b")})
    store.grant(two, {"a.py": digest(b"a")})
    store.revoke(one)
    assert store.granted(one) == {}
    assert store.holds(two, {"a.py": digest(b"a")})
    assert stat.S_IMODE((tmp_path / "trust.json").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["trust.json"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"3", b'{"/x": 3}', b"\xff\xfe", b'{"/x": {"a": null}}']
)
def test_a_file_that_cannot_be_understood_trusts_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "trust.json").write_bytes(content)
    store = TrustStore(tmp_path / "trust.json")
    assert not store.holds(Path("/x"), {"a": digest(b"a")})
    store.grant(Path("/y"), {"a": digest(b"a")})
    assert store.holds(Path("/y"), {"a": digest(b"a")})


def test_names_are_relative_and_a_link_keeps_its_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "x.py").symlink_to("/elsewhere.py")
    assert name_in(tmp_path, tmp_path / "link" / "x.py") == "real/x.py"
    assert name_in(tmp_path / "link", tmp_path / "real" / "x.py") == "x.py"
