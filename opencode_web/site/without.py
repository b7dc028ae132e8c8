"""Imports of packages without what they bring along and we do not use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def without(*names: str, hollow: ModuleType | None = None) -> Iterator[None]:
    """Modules of these names are not to be had meanwhile, unless they are there, and `hollow` is in the place
    of the one of its name."""
    modules: dict[str, ModuleType | None] = dict.fromkeys(names)
    if hollow:
        modules[hollow.__name__] = hollow
    for name in sys.modules.keys() & modules:
        del modules[name]
    sys.modules.update(modules)  # type: ignore[arg-type]  # None: not to be had
    try:
        yield
    finally:
        for name in modules:
            del sys.modules[name]
