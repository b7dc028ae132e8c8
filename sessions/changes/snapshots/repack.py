"""Write many objects into one pack, where equal parts of them take their room once."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sessions.changes.snapshots.objects import ObjectStore, Pack
from sessions.core.git import GitError, clean_environment

PACK_FROM = 200
"""Loose objects from which on they are packed: each takes a block of the disk, whatever its size."""
_GARBAGE = 0.25
"""The part of a pack that must be garbage before the pack is written anew."""
_MOST_PACKS = 12
_LOOK_SECONDS = 0.1
_ARGUMENTS = ("-c", "pack.windowMemory=64m", "pack-objects", "-q", "--threads=1", "--depth=20")


class Stopped(Exception):
    """Whoever wanted this done wants it no longer; nothing is lost."""


@dataclass(frozen=True, slots=True)
class Packing:
    """`objects` go into a new pack, after which `replaced` can go, unless they are not as old as `times`
    says any more. `garbage` is how many objects go with them for good."""

    objects: Sequence[str]
    replaced: tuple[Pack, ...]
    times: dict[Path, float]
    garbage: int


def plan_packing(
    packs: Sequence[Pack], loose: Sequence[str], lives: Callable[[str], bool], young: float
) -> Packing | None:
    """What to pack; None when it is well as it is. What is in packs older than `young` (in seconds since
    1970) and does not live is garbage."""
    times = {pack.path: pack.path.stat().st_mtime for pack in packs}
    wanted, seen = set(loose), set(loose)
    replaced, garbage = [], 0
    for pack in sorted(packs, key=lambda pack: times[pack.path], reverse=True):
        old = times[pack.path] < young
        sizes = pack.sizes()
        dead = {oid for oid in sizes if oid in seen or (old and not lives(oid))}
        if len(packs) > _MOST_PACKS or sum(sizes[oid] for oid in dead) > _GARBAGE * sum(sizes.values()):
            replaced.append(pack)
            wanted |= sizes.keys() - dead
            garbage += len(dead - seen)
        seen |= sizes.keys()
    if not replaced and len(loose) < PACK_FROM:
        return None
    return Packing(sorted(wanted), tuple(replaced), times, garbage)


def write_pack(objects: ObjectStore, oids: Sequence[str], stop: Callable[[], bool]) -> Path:
    """The pack with these objects, all of which must be ours. Raises GitError; Stopped, with nothing done."""
    place = objects.git_dir / "objects" / "pack" / "pack"
    argv = ["nice", "git", f"--git-dir={objects.git_dir}", *_ARGUMENTS, "--delta-base-offset", str(place)]
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered:
        asked.write("".join(f"{oid}\n" for oid in oids).encode())
        asked.seek(0)
        environ = clean_environment()
        with subprocess.Popen(argv, stdin=asked, stdout=answered, stderr=subprocess.PIPE, env=environ) as git:
            _wait(git, stop)
            assert git.stderr is not None
            if git.returncode != 0:
                raise GitError(f"git pack-objects: {git.stderr.read().decode(errors='replace').strip()}")
        answered.seek(0)
        return place.with_name(f"pack-{answered.read().decode().strip()}.pack")


def _wait(process: subprocess.Popen[bytes], stop: Callable[[], bool]) -> None:
    while True:
        try:
            process.wait(_LOOK_SECONDS)
            return
        except subprocess.TimeoutExpired:
            if stop():
                process.kill()
                raise Stopped from None
