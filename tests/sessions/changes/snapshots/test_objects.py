from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, object_id
from sessions.core.git import GitError


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "store")


@pytest.mark.parametrize("content", [b"", b"text\n", bytes(range(256)) * 5000])
def test_what_is_put_is_what_git_would_store(objects: ObjectStore, content: bytes) -> None:
    oid = objects.put(content)
    assert objects.put(content) == oid == object_id(content)
    assert objects.get(oid) == content
    assert objects.has(oid)
    assert objects.git(["cat-file", "blob", oid]) == content
    assert objects.git(["hash-object", "--stdin"], stdin=content).decode().strip() == oid
    objects.git(["fsck", "--strict"])
    assert list(objects.git_dir.rglob("tmp_obj_*")) == []


def test_nothing_and_damage_are_missing(objects: ObjectStore) -> None:
    assert not objects.has("0" * 40)
    with pytest.raises(ObjectMissing):
        objects.get("0" * 40)
    oid = objects.put(b"good")
    path = objects.git_dir / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(b"not zlib")
    with pytest.raises(ObjectMissing, match="damaged"):
        objects.get(oid)


@pytest.mark.parametrize("left", [b"", b"x\x9c"], ids=["empty", "cut short"])
def test_what_a_power_cut_left_is_written_anew(objects: ObjectStore, left: bytes) -> None:
    oid = objects.put(b"good")
    path = objects.git_dir / "objects" / oid[:2] / oid[2:]
    path.chmod(0o600)
    path.write_bytes(left)
    assert objects.put(b"good") == oid
    assert objects.get(oid) == b"good"


def test_borrowed_content_becomes_our_own(objects: ObjectStore, tmp_path: Path) -> None:
    other = ObjectStore(tmp_path / 'odd "name": \\ here')
    borrowed, gone = other.put(b"borrowed\n"), "1" * 40
    objects.borrow(other.git_dir / "objects")
    assert objects.get(borrowed) == b"borrowed\n"
    assert objects.own([borrowed, gone]) == {gone}
    objects.borrow(None)
    assert objects.get(borrowed) == b"borrowed\n"


def test_packed_content_is_read(objects: ObjectStore) -> None:
    oids = {objects.put(b"%d\n" % number): b"%d\n" % number for number in range(20)}
    pack = os.fspath(objects.git_dir / "objects" / "pack" / "pack")
    objects.git(["pack-objects", "-q", pack], stdin="".join(f"{oid}\n" for oid in oids).encode())
    objects.git(["prune-packed"])
    assert {oid: objects.get(oid) for oid in oids} == oids
    assert objects.own(oids) == set()


def test_git_failing_or_missing_is_told(objects: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match="cat-file"):
        objects.git(["cat-file", "blob", "2" * 40])
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(GitError, match="could not be started"):
        objects.git(["cat-file", "blob", "2" * 40])
