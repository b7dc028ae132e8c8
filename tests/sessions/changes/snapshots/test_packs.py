"""Packs are read here as git reads them."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, Packs, apply_delta, object_id
from sessions.changes.snapshots.repack import write_pack


def never() -> bool:
    return False


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "store")


def versions(count: int) -> list[bytes]:
    """Contents that are deltas to each other in a pack, and some that are not."""
    chance = random.Random(1)
    lines = [f"line {number} of a file\n".encode() for number in range(200)]
    found = [b"", b"\0\xff" * 40_000, chance.randbytes(200_000)]
    for number in range(count):
        lines[chance.randrange(len(lines))] = b"changed %d\n" % number
        found.append(b"".join(lines))
    return found


def test_every_object_of_a_pack(objects: ObjectStore) -> None:
    contents = {objects.put(content): content for content in versions(120)}
    pack = write_pack(objects, sorted(contents), never)
    for path in (objects.git_dir / "objects").glob("??/*"):
        path.unlink()
    listed = subprocess.run(
        ["git", "verify-pack", "-v", str(pack)], capture_output=True, text=True, check=True
    )
    assert "chain length = " in listed.stdout
    assert {oid: objects.get(oid) for oid in contents} == contents
    (read,) = objects.packs.all()
    assert read.count == len(contents)
    assert sum(read.sizes().values()) == pack.stat().st_size - 12 - 20
    assert not objects.has("0" * 40)


def test_a_delta_to_an_object_by_its_id(objects: ObjectStore) -> None:
    contents = {objects.put(content): content for content in versions(30)}
    place = objects.git_dir / "objects" / "pack" / "pack"
    argv = [
        "git",
        f"--git-dir={objects.git_dir}",
        "-c",
        "repack.useDeltaBaseOffset=false",
        "pack-objects",
        "-q",
    ]
    subprocess.run([*argv, str(place)], input="\n".join(contents).encode(), check=True, capture_output=True)
    (pack,) = objects.packs.all()
    assert {oid: pack.read(pack.find(oid) or 0)[1] for oid in contents} == contents


def test_packs_come_and_go(objects: ObjectStore) -> None:
    packs = Packs(objects.git_dir / "objects" / "pack")
    assert packs.all() == ()
    oid = objects.put(b"packed\n")
    pack = write_pack(objects, [oid], never)
    assert packs.get(oid) == b"packed\n"
    for path in pack.parent.iterdir():
        path.unlink()
    assert packs.get(oid) is None


def test_what_is_packed_is_not_written_again_but_made_young(objects: ObjectStore) -> None:
    oid = objects.put(b"packed\n")
    pack = write_pack(objects, [oid], never)
    loose = objects.git_dir / "objects" / oid[:2] / oid[2:]
    loose.unlink()
    for again in (lambda: objects.put(b"packed\n"), lambda: objects.own([oid])):
        os.utime(pack, (1, 1))
        again()
        assert pack.stat().st_mtime > 1
        assert not loose.exists()


def test_a_damaged_pack_is_no_content(objects: ObjectStore) -> None:
    oid = objects.put(b"packed\n" * 1000)
    pack = write_pack(objects, [oid], never)
    (objects.git_dir / "objects" / oid[:2] / oid[2:]).unlink()
    pack.chmod(0o644)
    pack.write_bytes(pack.read_bytes()[:14] + b"\xff" * 20 + pack.read_bytes()[34:])
    with pytest.raises(ObjectMissing):
        objects.get(oid)
    pack.with_suffix(".idx").chmod(0o644)
    pack.with_suffix(".idx").write_bytes(b"no index")
    with pytest.raises(ObjectMissing):
        ObjectStore(objects.git_dir).get(oid)


def test_a_delta_that_does_not_fit() -> None:
    assert apply_delta(b"old", bytes([3, 4, 0x90, 3, 1]) + b"!") == b"old!"
    for broken in (bytes([2, 1, 1]) + b"x", bytes([3, 9, 1]) + b"x"):
        with pytest.raises(ValueError, match="delta"):
            apply_delta(b"old", broken)


def test_the_id_is_that_of_the_content(objects: ObjectStore) -> None:
    assert object_id(objects.get(objects.put(b"x"))) == object_id(b"x")
