"""Make a worktree and end like a kill at a point: `python -m … TOP WORKTREES POINT`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
django.setup()

from django.conf import settings  # noqa: E402

from sessions.changes.checkout_git import git as really_git  # noqa: E402
from sessions.changes.snapshots.objects import ObjectStore  # noqa: E402
from sessions.changes.worktrees import making  # noqa: E402

top, home, point = sys.argv[1:]
settings.WORKTREE_DIR = home


def git(folder: Path, *arguments: str) -> bytes:
    if point == "before" and arguments[0] == "worktree":
        os._exit(9)
    done = really_git(folder, *arguments)
    if arguments[1] == point:
        os._exit(9)
    return done


def copy(*_: Any) -> None:
    os._exit(9)


faked: dict[str, Callable[..., Any]] = {"git": git}
if point == "copying":
    faked["copy_file"] = copy
for name, function in faked.items():
    setattr(making, name, function)
making.make("project", Path(top), "Cut short", [], ObjectStore(Path(home) / "objects"))
