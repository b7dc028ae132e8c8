"""The directory a request is about, as the server has to be told it."""

from __future__ import annotations

import os
from urllib.parse import quote

from opencode_web.remote.errors import RemoteError

HEADER = "x-opencode-directory"


def normalised(directory: str, *, here: bool) -> str:
    """An absolute path without `..` and without a slash at its end.

    `here` says that the server runs on this machine, so that the folder has to exist.
    Raises RemoteError (invalid).
    """
    if "\0" in directory or not directory.strip():
        raise RemoteError("invalid", f"{directory!r} is no directory.", sent=False)
    path = os.path.normpath(os.path.expanduser(directory))
    if not os.path.isabs(path):
        raise RemoteError("invalid", f"The directory {directory!r} is not an absolute path.", sent=False)
    if here and not os.path.isdir(path):
        raise RemoteError("invalid", f"The directory {path} does not exist.", sent=False)
    return path


def header(directory: str) -> dict[str, str]:
    """The header in ASCII: what is not is percent-encoded, as OpenCode's own clients do it."""
    return {HEADER: quote(directory, safe="/")}
