"""Devices: browsers that were let in by a code which another browser showed, where a server has one login."""

from __future__ import annotations

from django.utils.translation import gettext

from sessions.core.ids import now
from sessions.core.models import Device

LONGEST_NAME = 80
_LONGEST_AGENT = 200
UNUSED_MS = 3_600_000
"""After which one that never came is forgotten: its code is long void."""


class DeviceRefused(ValueError):
    """It cannot be added; the text is for the person."""


def add(login: str, name: str) -> Device:
    """One that may come with the login of this id. Raises DeviceRefused."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise DeviceRefused(gettext("A name has 1 to %(count)s letters.") % {"count": LONGEST_NAME})
    Device.objects.filter(time_joined=None, time_created__lt=now() - UNUSED_MS).delete()
    return Device.objects.create(id=login, name=name, time_created=now())


def joined(login: str, agent: str) -> None:
    """It came."""
    Device.objects.filter(id=login).update(agent=agent[:_LONGEST_AGENT], time_joined=now())


def listed(oldest: int) -> list[Device]:
    """Those that came since a moment (ms), for as long as their logins are good, the newest first."""
    return list(Device.objects.filter(time_joined__gt=oldest).order_by("-time_joined"))


def remove(login: str) -> bool:
    """Whether there was one. Its login is ended by the guard."""
    return bool(Device.objects.filter(id=login).delete()[0])
