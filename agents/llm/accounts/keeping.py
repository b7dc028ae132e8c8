"""Entries of `auth.json`: what may be kept, and keeping and forgetting it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from agents.config import configuration
from agents.llm.accounts.flows.base import InvalidInput, SignInFailed
from agents.llm.accounts.tokens import ended
from agents.llm.auth import Entry, known_entries, read_entries, remove_key, save
from sessions.core.files import BrokenFile
from sessions.core.sentences import Sentence

LABEL = "label"
_LONGEST = {"provider": 300, "key": 20_000, LABEL: 200}
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_SEEN = 12
"""Characters that a key must have before its last four are shown."""


async def entries() -> dict[str, Entry]:
    """All entries, ours before OpenCode's."""
    return await asyncio.to_thread(known_entries, settings.AUTH_FILES)


async def own() -> dict[str, Entry]:
    """Those of our own file: the ones that can be forgotten here."""
    return await asyncio.to_thread(read_entries, settings.AUTH_FILES[:1])


async def keep(provider_id: str, entry: Mapping[str, Any], label: str = "") -> None:
    """Raises InvalidInput for what no key or token can be, SignInFailed where it cannot be written."""
    name = provider_id.rstrip("/")
    if not name or len(name) > _LONGEST["provider"] or _CONTROL.search(name):
        raise InvalidInput("providerID", Sentence("This is no name of a provider."))
    made = {key: checked(key, value) for key, value in entry.items()}
    if label := label.strip():
        made["metadata"] = {**made.get("metadata", {}), LABEL: checked(LABEL, label)}
    await _change(save, settings.AUTH_FILES[0], name, made)
    ended.pop(name, None)
    configuration.connected(name)


async def relabel(provider_id: str, label: str) -> None:
    """Give our entry another name; nothing happens where there is none. Raises as `keep` does."""
    entry = (await own()).get(provider_id)
    if entry is not None:
        await keep(provider_id, entry, label)


async def forget(provider_id: str) -> None:
    """Sign out, or drop a key. Raises SignInFailed where the file cannot be written."""
    await _change(remove_key, settings.AUTH_FILES[0], provider_id.rstrip("/"))
    ended.pop(provider_id, None)
    configuration.connected(provider_id)


def checked(name: str, value: Any) -> Any:
    """A text without the blanks around it. Raises InvalidInput, which never holds the text."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text:
        raise InvalidInput(name, Sentence("It is empty."))
    if len(text) > _LONGEST.get(name, _LONGEST["key"]):
        raise InvalidInput(name, Sentence("It is too long."))
    if _CONTROL.search(text):
        raise InvalidInput(name, Sentence("It has a line break or another control character in it."))
    return text


def ending(entry: Entry) -> str:
    """The last four characters of a key, which is all that is ever shown of it."""
    key = entry["key"].strip()
    return key[-4:] if len(key) >= _SEEN else ""


def label_of(entry: Entry) -> str:
    metadata = entry.get("metadata")
    return str(metadata.get(LABEL, "")) if isinstance(metadata, dict) else ""


async def _change(work: Any, *arguments: Any) -> None:
    try:
        await asyncio.to_thread(work, *arguments)
    except (BrokenFile, OSError) as error:
        raise SignInFailed(Sentence("The file of keys cannot be changed: %(error)s", error=error)) from error
