"""What this machine does not give, and what that means for a person."""

from __future__ import annotations

from pathlib import Path

from django.utils.translation import gettext

from sessions.core.platform.inotify import Inotify
from sessions.core.platform.mounts import tells_all
from sessions.core.platform.processes import visible


def limits() -> tuple[str, ...]:
    """A sentence for each; none where all is there. It may block."""
    found = []
    if not visible():
        found.append(
            gettext(
                "Other processes cannot be seen. Stopping a command ends its process group; what left that "
                "group goes on running."
            )
        )
    if reason := _silent():
        said = gettext(
            "The system does not tell of changed files (%(reason)s). All files are looked at for each step, "
            "which takes longer in large projects; and folders that a command made stay, empty, when it is "
            "undone."
        )
        found.append(said % {"reason": reason})
    return tuple(found)


def _silent() -> str:
    """Why changes in the home folder cannot be heard of; empty where they can."""
    try:
        Inotify()
    except OSError as error:
        return error.strerror or str(error)
    if tells_all(Path.home().resolve()):
        return ""
    return gettext("your home folder is on a file system that does not")
