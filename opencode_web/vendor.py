"""Fetch the scripts and typefaces that no Python package brings: `python -m opencode_web.vendor`.

`static/vendor.lock.json` names the npm packages, their sha512 (Subresource Integrity form, W3C SRI §3.5)
and the files to keep; these land in `static/vendor/NAME/`, which git ignores and the wheel carries.
The registry is whatever npm is set to; none is named here. Without npm, registry or network the command
says what will be missing and succeeds, because the server runs without them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import httpx
from pydantic import BaseModel, TypeAdapter

from opencode_web import locate
from sessions.core.text import error_text

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


STATIC = locate.root() / "static"
TIMEOUT = 60.0
"""Seconds that one package may take."""


class Unreachable(Exception):
    """The package cannot be had from here; the text says why."""


class Tampered(Exception):
    """What came is not what the lock names."""


class Locked(BaseModel):
    """One entry of the lock file."""

    name: str
    version: str
    integrity: str
    files: list[str]
    license: str
    needed_for: str


def read_lock(static: Path) -> list[Locked]:
    return TypeAdapter(list[Locked]).validate_json((static / "vendor.lock.json").read_bytes())


def fetch_missing(static: Path) -> list[tuple[Locked, Unreachable]]:
    """Bring `static/vendor` in line with the lock; return what could not be had.

    Raises Tampered when a tarball does not match its hash; nothing of it is written then.
    """
    missing: list[tuple[Locked, Unreachable]] = []
    for package in read_lock(static):
        folder = static / "vendor" / package.name
        if _is_current(folder, package):
            continue
        try:
            tarball = _download(package)
        except Unreachable as reason:
            missing.append((package, reason))
        else:
            _verify(tarball, package)
            _extract(tarball, package, folder)
    return missing


def _is_current(folder: Path, package: Locked) -> bool:
    stamp = folder / ".integrity"
    return stamp.is_file() and stamp.read_text() == package.integrity


def _download(package: Locked) -> bytes:
    npm = shutil.which("npm")
    return _npm_pack(npm, package) if npm else _http_get(package)


def _npm_pack(npm: str, package: Locked) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        argv = [npm, "pack", f"{package.name}@{package.version}", "--pack-destination", folder]
        try:
            subprocess.run(
                [*argv, "--silent", "--fetch-retries=1"], check=True, capture_output=True, timeout=TIMEOUT
            )
        except (subprocess.SubprocessError, OSError) as error:
            raise Unreachable(f"npm pack failed: {error}") from error
        return next(Path(folder).glob("*.tgz")).read_bytes()


def _http_get(package: Locked) -> bytes:
    registry = npm_registry()
    if registry is None:
        raise Unreachable("there is no npm, and no registry is set in npm_config_registry or .npmrc")
    file = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
    try:
        response = httpx.get(f"{registry}/{package.name}/-/{file}", timeout=TIMEOUT, follow_redirects=True)
        return response.raise_for_status().content
    except httpx.HTTPError as error:
        raise Unreachable(f"the registry did not answer: {error_text(error)}") from error


def _verify(tarball: bytes, package: Locked) -> None:
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode()
    if found != package.integrity:
        raise Tampered(f"{package.name}@{package.version}: expected {package.integrity}, got {found}")


def _extract(tarball: bytes, package: Locked, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(tarball)) as archive:
        for name in [*package.files, package.license]:
            member = archive.extractfile(f"package/{name}")
            if member is None:
                raise Tampered(f"{package.name}@{package.version}: {name} is not a file")
            (folder / Path(name).name).write_bytes(member.read())
    (folder / ".integrity").write_text(package.integrity)


def main() -> int:
    """Exit code: 0, also when something is missing; 1 when a download was tampered with."""
    try:
        missing = fetch_missing(STATIC)
    except Tampered as error:
        print(f"refused: {error}", file=sys.stderr)
        return 1
    for package, reason in missing:
        print(
            f"warning: {package.name} {package.version} is missing ({package.needed_for}): {reason}\n"
            "Run this again later: python -m opencode_web.vendor",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
