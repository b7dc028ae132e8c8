"""Provider keys and sign-ins in `auth.json` files, in OpenCode's format: an object of entries by provider.

    {"type": "api", "key": "…"}
    {"type": "oauth", "refresh": "…", "access": "…", "expires": 0, "accountId": "…", "enterpriseUrl": "…"}
    {"type": "wellknown", "key": "…", "token": "…"}

`expires` is in milliseconds since the epoch; 0: not known to end. The first file of a list is ours, any other
is only read.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_PRIVATE = 0o600
_TEXTS: Mapping[str, Sequence[str]] = {
    "api": ("key",),
    "oauth": ("refresh", "access"),
    "wellknown": ("key", "token"),
}
"""What an entry of a type must have to be one."""

Entry = Mapping[str, Any]


class BrokenAuthFile(ValueError):
    """The file holds no JSON object; the text names file and line."""


def _is_whole(entry: Any) -> bool:
    """An entry of a known type with its texts, none of them empty."""
    if not isinstance(entry, dict) or entry.get("type") not in _TEXTS:
        return False
    texts = [entry.get(name) for name in _TEXTS[entry["type"]]]
    timed = entry["type"] != "oauth" or isinstance(entry.get("expires"), int | float)
    return timed and all(isinstance(text, str) and text.strip() for text in texts)


def read_entries(paths: Sequence[Path], is_whole: Callable[[Any], bool] = _is_whole) -> dict[str, Entry]:
    """Whole entries by provider id; of two files the first one wins.

    Never raises: a broken file is logged and passed over, and so is an entry that is none. The first file is
    ours: when others may read it, its mode is mended; of any other file that is only said.
    """
    found: dict[str, Entry] = {}
    for path in paths:
        try:
            _check_mode(path, ours=path == paths[0])
            entries = _read(path)
        except FileNotFoundError:
            continue
        except (BrokenAuthFile, OSError) as error:
            logger.error("provider keys left out: %s", error)
            continue
        for provider, entry in entries.items():
            if is_whole(entry):
                found.setdefault(provider, entry)
    return found


def keys_of(entries: Mapping[str, Entry]) -> dict[str, str]:
    """The keys among entries."""
    return {provider: entry["key"].strip() for provider, entry in entries.items() if entry["type"] == "api"}


def save(path: Path, provider: str, entry: Entry) -> None:
    """Keep a provider's entry; the file is replaced whole and has mode 600. Other entries stay.

    Raises BrokenAuthFile rather than overwrite what it cannot read, and OSError.
    """
    with _changing(path):
        _write(path, {**_read_or_empty(path), provider: dict(entry)})


def remove_key(path: Path, provider: str) -> None:
    """Forget a provider's entry of any type; nothing happens where there is none. Raises as `save` does."""
    with _changing(path):
        entries = _read_or_empty(path)
        if entries.pop(provider, None) is not None:
            _write(path, entries)


def swap(path: Path, provider: str, old: Entry | None, new: Entry | None) -> bool:
    """Put `new` in the place of `old`, None standing for no entry; whether it still was `old`. Raises as
    `save` does."""
    with _changing(path):
        entries = _read_or_empty(path)
        if entries.get(provider) != old:
            return False
        entries.pop(provider, None)
        _write(path, entries if new is None else {**entries, provider: dict(new)})
        return True


@contextmanager
def _changing(path: Path) -> Iterator[None]:
    """One writer at a time, of all processes: a file is read and written whole."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _read(path: Path) -> dict[str, Any]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise BrokenAuthFile(f"{path}, line {error.lineno}: {error.msg}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BrokenAuthFile(f"{path}, line 1: no JSON text") from error
    if not isinstance(entries, dict):
        raise BrokenAuthFile(f"{path}, line 1: not an object of providers")
    return entries


def _read_or_empty(path: Path) -> dict[str, Any]:
    try:
        return _read(path)
    except FileNotFoundError:
        return {}


def _check_mode(path: Path, ours: bool) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o077:
        return
    if not ours:
        logger.warning("%s holds keys and may be read by others (mode %03o)", path, mode)
        return
    path.chmod(_PRIVATE)
    logger.warning("%s could be read by others (mode %03o); its mode is 600 again", path, mode)


def _write(path: Path, entries: dict[str, Any]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mkstemp: mode 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
