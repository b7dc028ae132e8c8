"""Programs of the person's own that folders and files are opened in."""

from __future__ import annotations

from sessions.core.models import OwnProgram


def listing() -> list[OwnProgram]:
    """By their names."""
    return list(OwnProgram.objects.order_by("name"))


def save(name: str, command: str) -> None:
    """A new one, or in the place of the one of that name."""
    OwnProgram.objects.update_or_create(name=name, defaults={"command": command})


def remove(name: str) -> bool:
    """Whether there was one."""
    return bool(OwnProgram.objects.filter(name=name).delete()[0])
