"""Telling clients that what they may choose from is not what it was."""

from __future__ import annotations

from pathlib import Path

from sessions import bus


def configured(directory: Path | None) -> None:
    """The configuration of a folder, or the user's own for None, was read anew: models, providers and
    references may be others."""
    for kind in ("catalog", "integration", "reference"):
        bus.publish(bus.Event(f"{kind}.updated", {}, directory=str(directory or "")))


def connected(provider_id: str) -> None:
    """A provider's key or sign-in was kept or forgotten; it counts in all folders."""
    bus.publish(bus.Event("integration.connection.updated", {"integrationID": provider_id}))
    for kind in ("catalog", "integration"):
        bus.publish(bus.Event(f"{kind}.updated", {}))
