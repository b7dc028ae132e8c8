"""Provider keys and sign-ins in `auth.json` files, in OpenCode's format: an object of entries by provider.

    {"type": "api", "key": "…"}
    {"type": "oauth", "refresh": "…", "access": "…", "expires": 0, "accountId": "…", "enterpriseUrl": "…"}
    {"type": "wellknown", "key": "…", "token": "…"}

`expires` is in milliseconds since the epoch; 0: not known to end. The first file of a list is ours, any other
is only read.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sessions.core import variables
from sessions.core.files import PRIVATE, BrokenFile, JsonFile

logger = logging.getLogger(__name__)

_TEXTS: Mapping[str, Sequence[str]] = {
    "api": ("key",),
    "oauth": ("refresh", "access"),
    "wellknown": ("key", "token"),
}
"""What an entry of a type must have to be one."""

Entry = Mapping[str, Any]


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
            entries = JsonFile(path).read()
        except FileNotFoundError:
            continue
        except (BrokenFile, OSError) as error:
            logger.error("provider keys left out: %s", error)
            continue
        for provider, entry in entries.items():
            if is_whole(entry):
                found.setdefault(provider, entry)
    return found


def known_entries(paths: Sequence[Path], environ: Mapping[str, str] = os.environ) -> dict[str, Entry]:
    """What counts: the entries that the environment has, where it has some, else those of the files."""
    content = variables.AUTH_CONTENT.read(environ)
    if not content:
        return read_entries(paths)
    try:
        entries = json.loads(content)
    except ValueError as error:
        logger.error("%s is no JSON: %s", variables.AUTH_CONTENT.name, error)
        return read_entries(paths)
    given = entries.items() if isinstance(entries, dict) else ()
    return {provider: entry for provider, entry in given if _is_whole(entry)}


def keys_of(entries: Mapping[str, Entry]) -> dict[str, str]:
    """The keys among entries."""
    return {provider: entry["key"].strip() for provider, entry in entries.items() if entry["type"] == "api"}


def save(path: Path, provider: str, entry: Entry) -> None:
    """Keep a provider's entry; the file is replaced whole and has mode 600. Other entries stay.

    Raises BrokenFile rather than overwrite what it cannot read, and OSError.
    """
    with JsonFile(path).changing() as entries:
        entries[provider] = dict(entry)


def remove_key(path: Path, provider: str) -> None:
    """Forget a provider's entry of any type; nothing happens where there is none. Raises as `save` does."""
    with JsonFile(path).changing() as entries:
        entries.pop(provider, None)


def swap(path: Path, provider: str, old: Entry | None, new: Entry | None) -> bool:
    """Put `new` in the place of `old`, None standing for no entry; whether it still was `old`. Raises as
    `save` does."""
    with JsonFile(path).changing() as entries:
        if entries.get(provider) != old:
            return False
        entries.pop(provider, None)
        if new is not None:
            entries[provider] = dict(new)
        return True


def _check_mode(path: Path, ours: bool) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if not mode & 0o077:
        return
    if not ours:
        logger.warning("%s holds keys and may be read by others (mode %03o)", path, mode)
        return
    path.chmod(PRIVATE)
    logger.warning("%s could be read by others (mode %03o); its mode is 600 again", path, mode)
