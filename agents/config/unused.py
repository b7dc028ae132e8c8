"""What OpenCode or another program reads and this one does not: each is named, with the reason.

A warning is what may guard something: plugins and tools that nothing here can run. Those are said before a
turn, and in the page until a person dismisses that; they come back when they are others. The rest are notes.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from django.utils.translation.trans_null import gettext_noop

from agents.config.folders import MAX_FILES
from agents.config.javascript import ENDINGS, lacking
from agents.config.plugins import entry_of, path_of
from agents.config.problem import Problem
from agents.config.trust.store import digest
from sessions.core import paths
from sessions.core.files import BrokenFile, JsonFile
from sessions.core.platform.stamps import Stamp, stamp
from sessions.core.sentences import Sentence

logger = logging.getLogger(__name__)

_THEME = gettext_noop("is chosen under Settings, Looks")
_KEYS = gettext_noop("only its `keybinds` are used: the rest is about OpenCode's terminal")
_KEYS_OF_PROJECT = gettext_noop("is not used: keys are those of your own tui.json")
_AGENTS = gettext_noop("is not read, as in OpenCode: agents lie in .opencode/agents")
_COMMANDS = gettext_noop("is not read, as in OpenCode: commands lie in .opencode/commands")


def files(folder: Path, environ: Mapping[str, str], *, own: bool, stamps: dict[Path, Stamp]) -> list[Problem]:
    """In and beside a configuration folder, one of the user's own or a project's; `stamps` is given those of
    the places."""
    beside: Path | None = folder.parent
    if own:  # once, beside all of them
        beside = paths.home(environ) if folder == paths.config_directory(environ) else None
    return list(islice(_files(folder, beside, own, stamps), MAX_FILES))


def _files(folder: Path, beside: Path | None, own: bool, stamps: dict[Path, Stamp]) -> Iterator[Problem]:
    for name in ("plugin", "plugins", "tool", "tools"):
        for file in _listed(folder / name, ENDINGS, stamps):
            if why := lacking(file.suffix):
                message = Sentence("is not loaded, and guards nothing: %(why)s", why=why)
                yield Problem(file, None, "", message, "warning")
    for file in _listed(folder / "themes", (".json",), stamps):
        yield Problem(file, None, "", Sentence(_THEME), "note")
    found = {folder / "tui.json": _KEYS if own else _KEYS_OF_PROJECT}
    if beside is not None:
        found |= {beside / ".claude" / "agents": _AGENTS, beside / ".claude" / "commands": _COMMANDS}
    for path, words in found.items():
        stamps[path] = stamp(path)
        if stamps[path] is not None:
            yield Problem(path, None, "", Sentence(words), "note")


def _listed(folder: Path, endings: tuple[str, ...], stamps: dict[Path, Stamp]) -> list[Path]:
    stamps[folder] = stamp(folder)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [folder / name for name in sorted(names) if name.endswith(endings)]


def of_entries(named: Iterable[str], base: Path, environ: Mapping[str, str]) -> Iterator[Sentence]:
    """Those of `plugin` of a configuration that are not loaded, in words."""
    for name in islice(named, MAX_FILES):
        path = path_of(name, base, environ)
        entry = entry_of(path) if path is not None else Path()
        why = lacking(entry.suffix) if entry.suffix != ".py" else ""
        if not why and path is not None and not entry.is_file():
            why = Sentence("there is no file %(file)s", file=entry)
        if why:
            words = gettext_noop("%(entry)s is not loaded, and guards nothing: %(why)s")
            yield Sentence(words, entry=repr(name), why=why)


def told_of(item: Problem) -> tuple[Path, str, str]:
    """Of a warning: the file, what it names that is not used (empty for the file itself), and why."""
    filled = item.message.filled if isinstance(item.message, Sentence) else {}
    return item.file, str(filled.get("entry", "")), filled["why"]


def fingerprint(unused: Sequence[Problem]) -> str:
    """One digest for all that a person is shown."""
    return digest(json.dumps(sorted(f"{item.file} {item.message}" for item in unused)).encode())


def dismiss(directory: Path, shown: str) -> None:
    """Show what has this fingerprint no longer in a folder. Raises OSError."""
    with JsonFile(paths.unused()).changing(broken_is_empty=True) as known:
        known[str(directory)] = shown


def is_dismissed(directory: Path, unused: Sequence[Problem]) -> bool:
    """Whether a person has dismissed exactly this."""
    try:
        return JsonFile(paths.unused()).read().get(str(directory)) == fingerprint(unused)
    except (OSError, BrokenFile) as error:
        logger.warning("%s", error)
        return False
