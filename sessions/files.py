"""Writing a file of the user's so that it is always whole: temporary neighbour, then rename."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write atomically; an existing file keeps its mode unless one is given, parents are made.

    Raises OSError (disk full, no permission, a folder in the way) with the old file untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode is None and path.exists():
        mode = path.stat().st_mode
    temporary = path.parent / f".{path.name[:40]}.{secrets.token_hex(4)}"
    # A mode that is known is given at the end; a new file gets the one that the umask and the folder's
    # default rules leave, which the system alone knows.
    descriptor = os.open(temporary, _NEW, 0o666 if mode is None else 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
