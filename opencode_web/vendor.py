"""Fetch the scripts and typefaces that no Python package brings: `python -m opencode_web.vendor`.

`static/vendor.lock.json` names the npm packages, their sha512 (Subresource Integrity form, W3C SRI §3.5)
and the files to keep; these land in `static/vendor/NAME/`, which git ignores and the wheel carries.
A module that names another package gets its address beside it, as browsers know no packages; a style sheet
names its files by where they lie.
The registry is whatever npm is set to; none is named here. Without npm, registry or network the command
says what will be missing and succeeds, because the server runs without them.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
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
"""Seconds that one request may take, of npm for several packages."""
AT_ONCE = 4
STAMP = ".integrity"
"""What of a package is there, written when all of it is."""


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
    locked, vendor = read_lock(static), static / "vendor"
    modules = {package.name: Path(package.name, Path(package.files[0]).name) for package in locked}
    wanted = [package for package in locked if not _is_current(vendor / package.name, package)]
    for package, tarball in zip(wanted, _download(wanted), strict=True):
        if isinstance(tarball, Unreachable):
            missing.append((package, tarball))
        else:
            _verify(tarball, package)
            _extract(tarball, package, vendor / package.name)
            _address(vendor / package.name, modules, vendor)
            _flatten(vendor / package.name)
            (vendor / package.name / STAMP).write_text(package.integrity)
    return missing


def _is_current(folder: Path, package: Locked) -> bool:
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text() == package.integrity


Tarball = bytes | Unreachable


def _download(packages: Sequence[Locked]) -> list[Tarball]:
    """Of each its tarball, or why it cannot be had."""
    npm = shutil.which("npm")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        if npm is None:
            return list(pool.map(_http_get, packages))
        size = -(-len(packages) // AT_ONCE)
        parts = [packages[at : at + size] for at in range(0, len(packages), size or 1)]
        return [tarball for found in pool.map(partial(_npm_pack, npm), parts) for tarball in found]


def _npm_pack(npm: str, packages: Sequence[Locked]) -> list[Tarball]:
    """By one process; where that fails, each by one of its own, to know which it was."""
    with tempfile.TemporaryDirectory() as folder:
        specs = [f"{package.name}@{package.version}" for package in packages]
        argv = [npm, "pack", *specs, "--pack-destination", folder, "--silent", "--fetch-retries=1"]
        try:
            subprocess.run(argv, check=True, capture_output=True, timeout=TIMEOUT)
        except (subprocess.SubprocessError, OSError) as error:
            if len(packages) > 1:
                return [tarball for package in packages for tarball in _npm_pack(npm, [package])]
            return [Unreachable(f"npm pack failed: {error}")]
        return [Path(folder, _packed(package)).read_bytes() for package in packages]


def _packed(package: Locked) -> str:
    """How npm names a tarball of its own."""
    return f"{package.name.removeprefix('@').replace('/', '-')}-{package.version}.tgz"


def _http_get(package: Locked) -> Tarball:
    registry = npm_registry()
    if registry is None:
        return Unreachable("there is no npm, and no registry is set in npm_config_registry or .npmrc")
    file = f"{package.name.rpartition('/')[2]}-{package.version}.tgz"
    try:
        response = httpx.get(f"{registry}/{package.name}/-/{file}", timeout=TIMEOUT, follow_redirects=True)
        return response.raise_for_status().content
    except httpx.HTTPError as error:
        return Unreachable(f"the registry did not answer: {error_text(error)}")


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


_NAMED = re.compile(
    r"""^(import\s*(?:[\w*{}\s,$]*\bfrom\s*)?|export\s*[\w*{}\s,$]*\bfrom\s*)(['"])([@\w][^'"]*)\2""",
    re.MULTILINE,
)
"""An import or export of another package (ECMA-262, 16.2.2)."""


def _address(folder: Path, modules: Mapping[str, Path], vendor: Path) -> None:
    """Name the other packages in a package's modules by where they lie. Raises Tampered for one that the lock
    does not have."""
    for file in [*folder.glob("*.js"), *folder.glob("*.mjs")]:

        def named(match: re.Match[str], file: Path = file) -> str:
            if match[3] not in modules:
                raise Tampered(f"{file.name} of {folder.name} needs {match[3]}, which the lock does not name")
            address = os.path.relpath(vendor / modules[match[3]], file.parent)
            return f"{match[1]}{match[2]}{address if address.startswith('.') else f'./{address}'}{match[2]}"

        source = file.read_text()
        if (made := _NAMED.sub(named, source)) != source:
            file.write_text(made)


_FILE = re.compile(r"url\((?!data:)['\"]?[\w./-]*/([\w.-]+)['\"]?\)")
"""What a style sheet names in another folder (CSS Values, 4.5)."""


def _flatten(folder: Path) -> None:
    """The files of a package lie in one folder: so its style sheets name them."""
    for sheet in folder.glob("*.css"):
        sheet.write_text(_FILE.sub(r"url(\1)", sheet.read_text()))


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
