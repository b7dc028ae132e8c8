"""Which file systems tell inotify of every change: those that only this machine's kernel writes to."""

from __future__ import annotations

import os
import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    ("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "tmpfs", "xfs", "zfs")
)
"""Not NFS, SMB, 9p or FUSE (sshfs, shared folders of virtual machines): others may write there unseen."""
_ESCAPE = re.compile(rb"\\([0-7]{3})")


def tells_all(folder: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether `folder` (resolved) and all that is mounted below it is on such file systems."""
    try:
        mounted = [_parse(line) for line in mounts.read_bytes().splitlines()]
    except (OSError, IndexError):
        return False
    # Mount points come in the order of mounting: the last of the longest is the one in effect.
    holding = max((point for point, _ in mounted if folder.is_relative_to(point)), default=None)
    in_effect = [kind for point, kind in mounted if point == holding][-1:]
    below = [kind for point, kind in mounted if point != folder and point.is_relative_to(folder)]
    return bool(in_effect) and all(kind in _LOCAL for kind in in_effect + below)


def _parse(line: bytes) -> tuple[Path, str]:
    """Mount point and type of one line (proc_pid_mountinfo(5))."""
    before, _, after = line.partition(b" - ")
    point = _ESCAPE.sub(lambda found: bytes([int(found[1], 8)]), before.split()[4])
    return Path(os.fsdecode(point)), os.fsdecode(after.split()[0])
