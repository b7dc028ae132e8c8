"""Where `sessions`, `agents`, `templates` and `static` live: beside this package in a checkout, in
`opencode_web/_app` in an installed wheel (their names are too common for site-packages)."""

from __future__ import annotations

import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def root() -> Path:
    """The folder that holds the other rooms."""
    app = PACKAGE / "_app"
    return app if app.is_dir() else PACKAGE.parent


def use_root() -> None:
    """Put the root first on `sys.path` and name our settings, whatever project the shell was set to."""
    entry = str(root())
    if sys.path[:1] != [entry]:
        sys.path.insert(0, entry)
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
