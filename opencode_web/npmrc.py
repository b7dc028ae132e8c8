"""Where npm fetches packages from, read the way npm itself reads it (npm documentation, "config")."""

from __future__ import annotations

import os
from pathlib import Path

GLOBAL_FILES = (Path("/etc/npmrc"), Path("/usr/etc/npmrc"), Path("/usr/local/etc/npmrc"))


def npm_registry() -> str | None:
    """The registry's URL without a closing slash: environment, then the user's file, then the machine's."""
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if url := os.environ.get(name):
            return url.rstrip("/")
    user_file = Path(os.environ.get("NPM_CONFIG_USERCONFIG") or Path.home() / ".npmrc")
    return next((url for path in (user_file, *GLOBAL_FILES) if (url := _registry_in(path))), None)


def _registry_in(path: Path) -> str | None:
    if not path.is_file():
        return None
    for line in path.read_text(errors="replace").splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "registry":
            return value.strip().strip("\"'").rstrip("/")
    return None
