"""Bring Django up and reach the parts that need it: they can be imported only afterwards."""

from __future__ import annotations

from typing import Any

import django
from django.utils.module_loading import import_string

from opencode_web import database
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import complain


def prepare_django() -> None:
    """Set Django up and make the database ready. Raise Stop if it cannot be used."""
    django.setup()
    try:
        said = database.prepare()
    except database.Unusable as error:
        raise Stop(str(error)) from error
    if said:
        complain(said)


def wired(name: str) -> Any:
    """What this dotted name stands for."""
    return import_string(name)
