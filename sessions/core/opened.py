"""Folders that are no ordinary projects: the system's, a whole home, where keys lie. They open by a person's
word.

That is the command line that started the server, or a confirmation in the page, which is remembered; a
client's `directory=` is none. See docs/decisions/0024-out-of-reach.md.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext

from sessions.core.files import replace_file

SYSTEM = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys",
    "/usr", "/var", "/root", "/Library", "/System", "/private/etc", "/private/var",
)  # fmt: skip
ORDINARY = (
    "/run/media", "/usr/local/src", "/usr/src", "/var/folders", "/var/home", "/var/tmp", "/var/www",  # noqa: S108
    "/private/var/folders", "/private/var/tmp",
)  # fmt: skip
"""Below the system's, and yet where people have projects."""
KEYS = (".aws", ".azure", ".docker", ".gnupg", ".kube", ".password-store", ".ssh", ".local/share/keyrings")
"""Below a home."""


def holds_home(folder: Path) -> bool:
    """Whether it is the home, or above it."""
    return Path.home().resolve().is_relative_to(folder.resolve())


def caution(folder: Path) -> str:
    """Why a folder is no ordinary project, for people; empty for one that is."""
    real, home = folder.resolve(), Path.home().resolve()
    if holds_home(real):
        return (
            gettext("It is your whole home folder.")
            if real == home
            else gettext("Your whole home folder is in it.")
        )
    if real.is_relative_to(home):
        held = any(real.is_relative_to(home / name) for name in KEYS)
        return gettext("Keys are kept in it.") if held else ""
    ordinary = (*ORDINARY, tempfile.gettempdir())
    if _below(real, SYSTEM) and not _below(real, ordinary):
        return gettext("It belongs to the system.")
    return ""


def may_open(folder: Path) -> bool:
    """Whether a client may open it: an ordinary one, or by a person's word."""
    return not caution(folder) or _below(folder.resolve(), _allowed())


def allow(folder: Path) -> None:
    """A person has said so, of a folder and what is below."""
    known = dict.fromkeys((*_allowed(), str(folder.resolve())))
    replace_file(_file(), json.dumps(list(known), indent=2).encode(), 0o600)


def _below(path: Path, folders: tuple[str, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _allowed() -> tuple[str, ...]:
    """A file that cannot be understood allows nothing."""
    try:
        known = json.loads(_file().read_bytes())
        return tuple(str(folder) for folder in known) if isinstance(known, list) else ()
    except (OSError, ValueError):
        return ()


def _file() -> Path:
    return Path(settings.DATA_DIR) / "folders.json"
