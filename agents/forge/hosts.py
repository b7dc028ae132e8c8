"""Which forges are known, and the tokens that open them.

Kept ones are in `forges.json` beside the keys of providers, an object of entries by name:

    {"git.example.org": {"kind": "forgejo", "address": "https://git.example.org", "token": "…"}}

A token goes to the address that it was given for, and nowhere else. All functions block.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.forge.shapes import ForgeError
from agents.llm.auth import read_entries, remove_key, save
from sessions.core import variables
from sessions.core.addresses import is_safe
from sessions.core.files import BrokenFile

ForgeKind = Literal["github", "gitlab", "forgejo"]
Source = Literal["", "kept", "environment", "program"]
FILE = "forges.json"
NAMES: Final[Mapping[ForgeKind, str]] = {
    "github": "GitHub",
    "gitlab": "GitLab",
    "forgejo": gettext_noop("Forgejo or Gitea"),
}
VARIABLES: Final[Mapping[ForgeKind, tuple[str, ...]]] = {
    "github": ("GH_TOKEN", "GITHUB_TOKEN"),
    "gitlab": ("GITLAB_TOKEN",),
    "forgejo": ("FORGEJO_TOKEN", "GITEA_TOKEN"),
}
PROGRAMS: Final[Mapping[ForgeKind, str]] = {"github": "gh", "gitlab": "glab", "forgejo": "tea"}
SECONDS = 10.0
LONGEST = 2_000
"""Characters of a token."""
_ASKED: Final[Mapping[ForgeKind, tuple[str, ...]]] = {
    "github": ("auth", "token", "--hostname", "{host}"),
    "gitlab": ("config", "get", "token", "--host", "{host}"),
    "forgejo": ("login", "helper", "get"),
}
_PUBLIC: Final[Mapping[ForgeKind, str]] = {
    "github": "https://github.com",
    "gitlab": "https://gitlab.com",
    "forgejo": "https://codeberg.org",
}
_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True)
class Host:
    """A forge at an address without a slash at its end. `by` says where its token is from, `detail` which
    variable or program that is; both are empty where there is none."""

    kind: ForgeKind
    address: str
    token: str = field(default="", repr=False)
    by: Source = ""
    detail: str = ""

    @property
    def name(self) -> str:
        """Its host as remotes have it, with a port where the address has one."""
        return urlsplit(self.address).netloc.lower()

    @property
    def hostname(self) -> str:
        return urlsplit(self.address).hostname or ""

    @property
    def path(self) -> str:
        """Below what path of the host it is; empty for none."""
        return urlsplit(self.address).path.strip("/")

    @property
    def title(self) -> str:
        return NAMES[self.kind]


def file() -> Path:
    return Path(settings.AUTH_FILES[0]).with_name(FILE)


def hosts() -> dict[str, Host]:
    """All that are known, by their names, with the tokens that are kept or in the environment."""
    known = {host.name: host for host in (Host(kind, address) for kind, address in _PUBLIC.items())}
    named = _named()
    known |= {host.name: host for host in named}
    for kind in get_args(ForgeKind):
        first = next((host for host in named if host.kind == kind), Host(kind, _PUBLIC[kind]))
        known[first.name] = _with_variable(first)
    known |= {host.name: host for host in _kept()}
    return known


def with_token(host: Host) -> Host:
    """With the token of the forge's own program, where there is no other and the program has one."""
    if host.token:
        return host
    token = _asked(host.kind, host.name)
    return replace(host, token=token, by="program", detail=PROGRAMS[host.kind]) if token else host


def by_program(name: str) -> Host | None:
    """A host that is not known here, where one of the programs is signed in at it."""
    for kind in get_args(ForgeKind):
        if token := _asked(kind, name):
            return Host(kind, f"https://{name}", token, "program", PROGRAMS[kind])
    return None


def checked(kind: str, address: str, token: str) -> Host:
    """What a person gave, as it may be kept. Raises ForgeError, which never holds the token."""
    if kind not in get_args(ForgeKind):
        raise ForgeError(gettext("Choose what kind of forge it is."))
    made = address.strip().rstrip("/")
    if made and "://" not in made:
        made = f"https://{made}"
    try:
        parts = urlsplit(made)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    plain = f"{parts.scheme}://{parts.hostname or ''}{f':{port}' if port else ''}{parts.path}"
    if not parts.hostname or plain.lower() != made.lower() or len(made) > LONGEST:
        raise ForgeError(gettext("This is no address of a forge. It looks like https://git.example.org."))
    if not is_safe(parts.scheme, parts.hostname):
        raise ForgeError(gettext("The address has to begin with https://, for a token is sent there."))
    given = token.strip()
    if not given:
        raise ForgeError(gettext("The token is empty."))
    if len(given) > LONGEST or not _TOKEN.fullmatch(given):
        raise ForgeError(
            gettext("This is no token: it is too long, or has blanks or control characters in it.")
        )
    return Host(cast(ForgeKind, kind), made, given, "kept")


def keep(host: Host) -> None:
    """Raises ForgeError where it cannot be written."""
    entry = {"kind": host.kind, "address": host.address, "token": host.token}
    try:
        save(file(), host.name, entry)
    except (BrokenFile, OSError) as error:
        raise ForgeError(
            gettext("The file of forges cannot be changed: %(error)s") % {"error": error}
        ) from error


def forget(name: str) -> None:
    """Nothing happens where none is kept. Raises as `keep` does."""
    try:
        remove_key(file(), name)
    except (BrokenFile, OSError) as error:
        raise ForgeError(
            gettext("The file of forges cannot be changed: %(error)s") % {"error": error}
        ) from error


def _kept() -> list[Host]:
    entries = read_entries([file()], _is_entry)
    return [Host(entry["kind"], entry["address"], entry["token"], "kept") for entry in entries.values()]


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("kind") in get_args(ForgeKind)
        and all(isinstance(entry.get(name), str) and entry[name] for name in ("address", "token"))
    )


def _named() -> list[Host]:
    """Those of `OPENCODE_WEB_FORGES`; what is none is passed over."""
    found = []
    for each in variables.FORGES.read().replace(",", " ").split():
        kind, _, address = each.partition("=")
        parts = urlsplit(address.rstrip("/"))
        if kind in get_args(ForgeKind) and is_safe(parts.scheme, parts.hostname):
            found.append(Host(cast(ForgeKind, kind), address.rstrip("/")))
    return found


def _with_variable(host: Host) -> Host:
    for name in VARIABLES[host.kind]:
        if token := os.environ.get(name, "").strip():
            return replace(host, token=token, by="environment", detail=name)
    return host


def _asked(kind: ForgeKind, host: str) -> str:
    """The token that a forge's program has for a host; empty where it has none. It is asked in the person's
    home, so that nothing of a repository counts, and without tokens of the environment, which some of the
    programs would give for any host."""
    program = shutil.which(PROGRAMS[kind])
    if program is None:
        return ""
    command = [program, *(part.replace("{host}", host) for part in _ASKED[kind])]
    stdin = f"protocol=https\nhost={host}\n\n" if kind == "forgejo" else ""
    try:
        done = subprocess.run(
            command,
            cwd=Path.home(),
            env={key: value for key, value in os.environ.items() if "TOKEN" not in key.upper()},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    output = done.stdout.strip() if done.returncode == 0 else ""
    if kind == "forgejo":
        lines = (line.partition("=") for line in output.splitlines())
        fields = {name: value for name, _, value in lines}
        output = fields.get("password", "") if fields.get("host", host) == host else ""
    return output if _TOKEN.fullmatch(output) else ""
