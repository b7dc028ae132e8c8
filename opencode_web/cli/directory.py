"""Is this a folder to work in?"""

from __future__ import annotations

import os
from pathlib import Path

from opencode_web.cli.stop import Stop


def project_directory(name: str) -> Path:
    """The absolute path of an existing, readable folder. Raise Stop (status 2) for anything else."""
    try:
        path = Path(name).expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise Stop(f"{name!r} is no usable path: {error}", 2) from error
    if not path.exists():
        raise Stop(f"{path} does not exist", 2)
    if not path.is_dir():
        raise Stop(f"{path} is a file; name the folder it is in", 2)
    if path.parent == path:
        raise Stop(f"{path} is the root of the file system; name the folder of a project", 2)
    if not os.access(path, os.R_OK | os.X_OK):
        raise Stop(f"{path} cannot be read: permission denied", 2)
    return path
