"""Provider keys in `auth.json` files, in OpenCode's format: `{"anthropic": {"type": "api", "key": "…"}}`."""

from __future__ import annotations

import json
import logging
import os
import stat
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_PRIVATE = 0o600


class BrokenAuthFile(ValueError):
    """The file holds no JSON object; the text names file and line."""


def read_keys(paths: Sequence[Path]) -> dict[str, str]:
    """Keys by provider id; of two files the first one wins. Only entries of type `api` are keys.

    Never raises: a broken file is logged and passed over. The first file is ours: when others may read it,
    its mode is mended; of any other file that is only said.
    """
    keys: dict[str, str] = {}
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
            key = entry.get("key") if isinstance(entry, dict) and entry.get("type") == "api" else None
            if isinstance(key, str) and key.strip():
                keys.setdefault(provider, key.strip())
    return keys


def save_key(path: Path, provider: str, key: str) -> None:
    """Keep a provider's key; the file is replaced whole and has mode 600. Other entries stay.

    Raises BrokenAuthFile rather than overwrite what it cannot read, and OSError.
    """
    entries = _read_or_empty(path)
    _write(path, {**entries, provider: {"type": "api", "key": key.strip()}})


def remove_key(path: Path, provider: str) -> None:
    """Forget a provider's entry; nothing happens where there is none. Raises as `save_key` does."""
    entries = _read_or_empty(path)
    if entries.pop(provider, None) is not None:
        _write(path, entries)


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
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mkstemp: mode 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(entries, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
