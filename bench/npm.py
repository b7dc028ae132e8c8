"""Packages from npm, each installed once into the user's cache folder; for bench and tests alike."""

from __future__ import annotations

import fcntl
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

INSTALL_SECONDS = 600


class NotInstalled(Exception):
    """The package could not be had; the text says why."""


def installed(package: str, version: str, environ: Mapping[str, str], *beside: str) -> Path:
    """The `node_modules` with the package, and with what it is to be used with (`name@version`).

    Raises NotInstalled. `environ` is that of the user: it has npm's settings and the place of the cache.
    """
    cache = Path(environ.get("XDG_CACHE_HOME") or Path(environ["HOME"], ".cache"))
    folder = cache / "opencode-web-bench" / f"{package.split('/')[-1]}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other test processes want the same
        if not (folder / "installed").exists():
            _install(folder, [f"{package}@{version}", *beside], environ)
            (folder / "installed").touch()
    return folder / "node_modules"


def _install(folder: Path, wanted: Sequence[str], environ: Mapping[str, str]) -> None:
    npm = shutil.which("npm", path=environ.get("PATH"))
    if npm is None:
        raise NotInstalled("npm is not on PATH")
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    command = [npm, "install", *options, *wanted]
    try:
        subprocess.run(
            command, env=dict(environ), check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"npm took longer than {INSTALL_SECONDS} s") from error
    except subprocess.CalledProcessError as error:
        raise NotInstalled(f"npm failed: {_reason(error.stderr)}") from error


def _reason(stderr: str) -> str:
    """In one line: the code that npm gives (E404, ENOTFOUND), else its last words."""
    code = re.search(r"^npm (?:error|ERR!) code (\S+)", stderr, re.MULTILINE)
    return code[1] if code else (stderr.strip().splitlines() or ["it said nothing"])[-1]
