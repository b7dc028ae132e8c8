"""Copies of all that is ours, to be put back on an empty place (docs/decisions/0021).

A backup is a folder: the files of the data folder as they are, and `manifest.json` with the hash of each,
written last. Credentials are left out, or encrypted with a passphrase (Fernet, the key by scrypt: RFC 7914).
"""

from __future__ import annotations

import argparse
import base64
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path, PurePosixPath
from typing import Any

import opencode_web
from opencode_web.cli.terminal import Stop, plain, say
from opencode_web.site import database
from sessions.changes.upkeep import copies
from sessions.changes.upkeep.copies import copy_to, set_mode
from sessions.changes.worktrees.removal import CannotRemove, losses
from sessions.core import paths, variables

FORMAT = 1
PASSPHRASE = variables.PASSPHRASE.name
MANIFEST, DATABASE, SEALED = "manifest.json", "db.sqlite3", "credentials.json"
_STORES = "snapshots"
_FOLDERS = (_STORES, "plans", "tool-output")
_FILES = ("trust.json",)
CREDENTIALS = ("auth.json", "mcp-auth.json", "forges.json", "secret")
LEFT_OUT = ("worktrees", "servers", "skills", "copies", "log")
"""Other folders of ours: what git holds once it is committed, what is installed again by a click, and what
goes in time."""
_PASSING = ("lock", "index.lock", "sweep.lock", "contents.lock", "HEAD.new")
_CHUNK = 1 << 20
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}


class Refused(Exception):
    """This cannot be backed up or restored; the text says why."""


@dataclass(frozen=True, slots=True)
class Backup:
    """`files` and `size` (bytes) of it, the `version` of the program that made it, when (`made`, ISO 8601),
    and whether it has `credentials`."""

    files: int
    size: int
    version: str
    made: str
    credentials: bool


def back_up(target: Path, passphrase: str = "") -> Backup:
    """Copy all to the folder `target`, which is new or empty, while the server may run. With a passphrase the
    credentials go along, encrypted. Raises Refused, OSError and sqlite3.Error; then nothing is left there."""
    data = paths.data_directory()
    _refuse_server()
    if target.resolve().is_relative_to(data.resolve()):
        raise Refused(f"{target} is within {data}, which is what is backed up")
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refused(f"{target} is there already: name a new or an empty folder")
    if not (data / DATABASE).exists():
        raise Refused(f"there is nothing to back up in {data}")
    made = not target.exists()
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _back_up(data, target, passphrase)
    except BaseException:
        for path in target.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if made:
            target.rmdir()
        raise


def _refuse_server() -> None:
    if copies.database() is None:
        raise Refused("the rows are on a server: back up that (pg_dump), and the data folder beside it")


def restore(source: Path, passphrase: str = "") -> Backup:
    """Put a backup into the data folder, which has to be empty, once every file of it was compared with the
    manifest. Raises Refused, OSError and sqlite3.Error; then nothing of it is there."""
    data = paths.data_directory()
    _refuse_server()
    manifest = _manifest(source)
    if taken := _occupied(data):
        raise Refused(f"{data} is not empty: it has {taken}; set XDG_DATA_HOME to a place without data")
    if newer := _newer(manifest["migrations"]):
        raise Refused(f"the backup was made by a newer opencode-web ({manifest['version']}; it has {newer})")
    credentials = _unseal(source, manifest, passphrase)
    with tempfile.TemporaryDirectory(dir=data, prefix=".restore-") as name:
        staged = Path(name)
        for path, told in manifest["files"].items():
            found = _copy(source / path, staged / path)
            if found != told:
                raise Refused(f"{source / path} is not as it was backed up; nothing was restored")
        if fault := database.find_fault(staged / DATABASE):
            raise Refused(f"the database in the backup is damaged: {fault}")
        for entry, text in credentials.items():
            (staged / entry).write_text(text)
            (staged / entry).chmod(0o600)
        (staged / SEALED).unlink(missing_ok=True)
        _put_in_place(staged, data)
    return _summary(manifest)


def _back_up(data: Path, target: Path, passphrase: str) -> Backup:
    files: dict[str, dict[str, Any]] = {}
    with ExitStack() as held:
        stores = [path.parent for path in (data / _STORES).glob("*/objects")]
        for store in stores:  # what the database names when it is copied stays until it is copied, too
            held.enter_context(_unswept(store))
        copy_to(data / DATABASE, target / DATABASE)
        if fault := database.find_fault(target / DATABASE):
            raise Refused(f"the database is damaged ({fault}): `opencode-web doctor --repair` salvages it")
        for path in _files(data):
            with suppress(FileNotFoundError):  # went meanwhile, as an old tool output does
                name = path.relative_to(data).as_posix()
                files[name] = _copy(path, target / name)
    if passphrase:
        (target / SEALED).write_text(_seal(data, passphrase))
    for name in (DATABASE, SEALED):
        if (target / name).exists():
            set_mode(target / name, 0o600)
            files[name] = _digest(target / name)
    manifest = {
        "format": FORMAT,
        "version": opencode_web.__version__,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "migrations": _migrations(target / DATABASE),
        "credentials": bool(passphrase),
        "left_out": [*LEFT_OUT, *(() if passphrase else CREDENTIALS)],
        "files": files,
    }
    os.sync()
    with (target / MANIFEST).open("w") as file:
        json.dump(manifest, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
    return _summary(manifest)


@contextmanager
def _unswept(store: Path) -> Iterator[None]:
    with (store / "sweep.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def _files(data: Path) -> Iterator[Path]:
    """The files to copy, of each store its index and last tree before the contents that these name."""
    for folder in _FOLDERS:
        found = [Path(place, name) for place, _, names in os.walk(data / folder) for name in names]
        found.sort(key=lambda path: ("objects" in path.relative_to(data).parts, path))
        yield from (path for path in found if not _is_passing(path, data))
    yield from (data / name for name in _FILES if (data / name).exists())


def _is_passing(path: Path, data: Path) -> bool:
    pinned = "pins" in path.relative_to(data).parts
    names = path.name in _PASSING or path.name.startswith(("tmp_", ".tmp-")) or pinned
    return names or path.is_symlink() or not path.is_file()


def _copy(path: Path, target: Path) -> dict[str, Any]:
    """Copy a file, private; its size and hash."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as source, target.open("xb") as copy:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            copy.write(chunk)
        mode = stat.S_IMODE(os.fstat(source.fileno()).st_mode) & 0o700
    set_mode(target, mode)
    return {"sha256": digest.hexdigest(), "size": size}


def _digest(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "size": path.stat().st_size}


def _migrations(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as db:
        rows = db.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()
    return [f"{app}.{name}" for app, name in rows]


def _newer(migrations: list[str]) -> str:
    on_disk = {f"{app}.{name}" for app, name in database.migrations_on_disk()}
    apps = {name.partition(".")[0] for name in on_disk}
    return ", ".join(name for name in migrations if name.partition(".")[0] in apps and name not in on_disk)


def _manifest(source: Path) -> dict[str, Any]:
    try:
        manifest = json.loads((source / MANIFEST).read_text())
        if manifest["format"] != FORMAT:
            raise Refused(f"{source} has the format {manifest['format']}, which this version does not read")
        names = [PurePosixPath(name) for name in manifest["files"]]
        if DATABASE not in manifest["files"] or any(
            name.is_absolute() or ".." in name.parts for name in names
        ):
            raise Refused(f"{source / MANIFEST} names files that no backup has")
        _summary(manifest), manifest["migrations"]
    except FileNotFoundError as error:
        raise Refused(f"{source} is no whole backup: {error.filename} is missing") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(f"{source / MANIFEST} cannot be read: {error}") from error
    for name in manifest["files"]:
        if (source / name).is_symlink() or not (source / name).is_file():
            raise Refused(f"{source / name} is missing; nothing was restored")
    return dict(manifest)


def _summary(manifest: dict[str, Any]) -> Backup:
    size = sum(int(file["size"]) for file in manifest["files"].values())
    return Backup(
        len(manifest["files"]),
        size,
        str(manifest["version"]),
        str(manifest["made"]),
        bool(manifest["credentials"]),
    )


def _occupied(data: Path) -> str:
    """What of a backup's places is taken; empty when there is none."""
    beside = [path.name for path in data.glob(f"{DATABASE}.corrupt-*")]
    # SQLite plays a log that a crash left over whatever database lies beside it.
    beside += [f"{DATABASE}{end}" for end in ("-wal", "-shm", "-journal")]
    names = (DATABASE, *_FILES, *CREDENTIALS[:2], *beside)
    found = [name for name in names if (data / name).exists()]
    found += [f"{name}/" for name in _FOLDERS if (data / name).is_dir() and any((data / name).iterdir())]
    return ", ".join(found)


def _put_in_place(staged: Path, data: Path) -> None:
    """The database comes last: without it there is nothing that names the rest."""
    for path in sorted(staged.iterdir(), key=lambda path: path.name == DATABASE):
        place = data / path.name
        if place.is_dir():
            place.rmdir()
        path.replace(place)


def _seal(data: Path, passphrase: str) -> str:
    from cryptography.fernet import Fernet

    salt = secrets.token_bytes(16)
    found = {name: (data / name).read_text() for name in CREDENTIALS if (data / name).exists()}
    token = Fernet(_key(passphrase, salt)).encrypt(json.dumps(found).encode())
    return json.dumps({"salt": salt.hex(), "fernet": token.decode()})


def _unseal(source: Path, manifest: dict[str, Any], passphrase: str) -> dict[str, str]:
    if not manifest["credentials"] or not passphrase:
        return {}
    from cryptography.fernet import Fernet, InvalidToken

    try:
        sealed = json.loads((source / SEALED).read_text())
        token = Fernet(_key(passphrase, bytes.fromhex(sealed["salt"]))).decrypt(sealed["fernet"])
    except InvalidToken as error:
        raise Refused("the passphrase is another one, or the credentials were changed") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused(f"{source / SEALED} cannot be read: {error}") from error
    return {name: text for name, text in json.loads(token).items() if name in CREDENTIALS}


def _key(passphrase: str, salt: bytes) -> bytes:
    key = hashlib.scrypt(passphrase.encode(), salt=salt, maxmem=2**26, dklen=32, **_SCRYPT)
    return base64.urlsafe_b64encode(key)


def make_backup(arguments: argparse.Namespace, _: Path) -> None:
    """Write a backup. Raise Stop where there is none to be had."""
    passphrase = _passphrase(twice=True) if arguments.credentials else ""
    target = Path(arguments.target).expanduser()
    try:
        made = back_up(target, passphrase)
    except Refused as error:
        raise Stop(str(error)) from error
    say(f"Backed up {made.files:,} files ({_size(made.size)}) to {target}")
    left = ", ".join(LEFT_OUT)
    say(f"Left out: {left}{'' if passphrase else ', and all credentials (--credentials takes them along)'}")
    for place, what in _uncommitted():
        say(f"Left out, and in no other place: {what} not committed in the worktree {plain(str(place))}")
    if (target / DATABASE).stat().st_mode & 0o077:
        say(f"The file system of {plain(str(target))} has no permissions: others may read the backup")


def _uncommitted() -> Iterator[tuple[Path, str]]:
    """The worktrees with work that is not committed, and how much of it."""
    for folder in sorted(path.parent for path in paths.worktrees().glob("*/*/.git")):
        try:
            count = losses(folder).files
        except CannotRemove:
            yield folder, "what is"
        else:
            if count:
                yield folder, f"{count:,} files that are" if count > 1 else "1 file that is"


def restore_backup(arguments: argparse.Namespace, _: Path) -> None:
    """Put a backup in place. Raise Stop where it cannot be."""
    passphrase = _passphrase(twice=False) if arguments.credentials else ""
    source = Path(arguments.source).expanduser()
    try:
        done = restore(source, passphrase)
    except Refused as error:
        raise Stop(str(error)) from error
    say(f"Restored {done.files:,} files ({_size(done.size)}) of {done.made} into {paths.data_directory()}")
    if done.credentials and not passphrase:
        say("The credentials in it were left out (--credentials restores them)")


def _passphrase(*, twice: bool) -> str:
    if given := variables.PASSPHRASE.read():
        return given
    if not sys.stdin.isatty():
        raise Stop(f"set {PASSPHRASE} to the passphrase of the credentials", 2)
    text = getpass("Passphrase of the credentials: ")
    if not text or (twice and getpass("The same again: ") != text):
        raise Stop("the passphrases are not the same" if text else "the passphrase is empty", 2)
    return text


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
