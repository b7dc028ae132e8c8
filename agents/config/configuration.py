"""The configuration of a folder, and telling clients when it is another one."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

from agents.config import loader
from agents.config.loader import Loaded
from agents.config.schema import Config
from sessions.core import bus

MOST_KNOWN = 1000
_known: dict[Path | None, Loaded] = {}
"""What each folder's was when it was asked for last, and clients know of."""
_changed: dict[Path, tuple[Loaded, Loaded]] = {}
"""What plugins have made of a folder's, beside what they were shown."""
_telling = threading.Lock()
"""Whoever gets a configuration may tell more about it: the clients have heard that it is new by then."""


def load(directory: Path | None) -> Loaded:
    """The merged configuration of a folder, or the user's own alone for None, and what was wrong with its
    files; cheap when unchanged. Clients are told when it was loaded, and when it is another one than before.
    """
    loaded = loader.load(directory)
    shown, made = _changed.get(directory, (None, loaded)) if directory else (None, loaded)
    loaded = made if shown is loaded else loaded
    if _known.get(directory) is not loaded:
        with _telling:
            _tell(directory, loaded)
    return loaded


def written(directory: Path) -> Loaded:
    """The same as its files have it, without what plugins have made of it."""
    return loader.load(directory)


def change(directory: Path, shown: Loaded, config: Config) -> None:
    """What plugins have made of a configuration is in force for as long as its files stay as they were."""
    if shown.config == config:
        _changed.pop(directory, None)
        return
    if len(_changed) >= MOST_KNOWN:
        _changed.clear()
    _changed[directory] = shown, replace(shown, config=config)


def _tell(directory: Path | None, loaded: Loaded) -> None:
    before = _known.get(directory)
    if before is loaded:
        return
    if before is None or before.config != loaded.config:
        configured(directory)
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    _known[directory] = loaded


def configured(directory: Path | None) -> None:
    """The configuration of a folder, or the user's own for None, was read: models, providers and references
    may be others."""
    for kind in ("catalog", "integration", "reference"):
        bus.publish(bus.Event(f"{kind}.updated", {}, directory=str(directory or "")))


def connected(provider_id: str) -> None:
    """A provider's key or sign-in was kept or forgotten; it counts in all folders."""
    bus.publish(bus.Event("integration.connection.updated", {"integrationID": provider_id}))
    for kind in ("catalog", "integration"):
        bus.publish(bus.Event(f"{kind}.updated", {}))
