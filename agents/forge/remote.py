"""At which forge a repository is, by the addresses of its remotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.utils.translation import gettext

from agents.forge.hosts import Host, by_program, hosts, with_token
from agents.forge.shapes import ForgeError
from sessions.changes.git.command import Git
from sessions.changes.git.remotes import remotes

_PREFERRED = ("upstream", "origin")
"""Remotes that are looked at first: who has a fork works on the issues of what it was made from."""
_NEAR = re.compile(r"(?:[^@/:\s]+@)?([A-Za-z0-9.-]+):(?!//)(.+)")
"""git-clone(1), GIT URLS: `[user@]host:path`, over ssh."""
_OVER_HTTPS = ("ssh.", "altssh.")
"""Before the names of hosts that take ssh at the port of https."""
_PORTS = {"http": 80, "https": 443}
_NAME = re.compile(r"[\w.~-]+", re.ASCII)
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Address:
    """Of a remote: the host, with a port where that belongs to its name, and the path of the repository."""

    host: str
    path: str


@dataclass(frozen=True, slots=True)
class Hosted:
    """A repository at a forge, by the name of its remote. `source` is where branches are pushed to: the same
    path, or that of a fork."""

    host: Host
    path: str
    remote: str
    source: str

    @property
    def forked(self) -> bool:
        return self.source != self.path


@dataclass(frozen=True, slots=True)
class Branch:
    """The one that is checked out, by its name at the forge; `pull` is the pull request that it was made of,
    by `opencode-web pr` or from the list, 0 for none. `pushed`: the forge has all of its commits."""

    local: str
    name: str
    pull: int
    pushed: bool
    commit: str


def address_of(url: str) -> Address | None:
    """None for what is on no host, or is no repository."""
    near = _NEAR.fullmatch(url) if "://" not in url else None
    if near:
        host, path = near[1].lower(), near[2]
    else:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            return None
        host, path = (parts.hostname or "").lower(), unquote(parts.path)
        if parts.scheme in _PORTS:
            host += f":{port}" if port and port != _PORTS[parts.scheme] else ""
        elif parts.scheme not in ("ssh", "git+ssh", "ssh+git", "git"):
            return None
    for before in _OVER_HTTPS:
        host = host.removeprefix(before)
    names = path.strip("/").removesuffix(".git").split("/")
    if not host or len(names) < 2 or not all(_NAME.fullmatch(name) and name.strip(".") for name in names):
        return None
    return Address(host, "/".join(names))


def hosted(git: Git) -> Hosted:
    """Where the repository of a working tree is. Runs programs; raises ForgeError where that is nowhere that
    is known."""
    known = hosts()
    seen: list[str] = []
    for remote in _ordered(git):
        for address in _addresses(git, remote):
            seen.append(address.host)
            if found := _find(known, address):
                host = with_token(found)
                source = _source(git, found)
                path = _within(found, address.path)
                return Hosted(host, path, remote, source or path)
    for remote in _ordered(git):
        for address in _addresses(git, remote):
            if other := by_program(address.host):
                return Hosted(other, address.path, remote, _source(git, other) or address.path)
    if seen:
        raise ForgeError(
            gettext(
                "What kind of forge %(seen)s is, is not known here. Add it to the accounts, with a token."
            )
            % {"seen": seen[0]}
        )
    raise ForgeError(gettext("This repository has no remote at a forge."))


def branch_of(git: Git, at: Hosted) -> Branch:
    """Raises ForgeError where none is checked out."""
    local = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    if not local:
        raise ForgeError(gettext("No branch is checked out."))
    commit = git.asked("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    merge = git.asked("config", "--get", f"branch.{local}.merge")
    from_pull = re.fullmatch(r"refs/(?:pull|merge-requests)/(\d{1,9})/head", merge)
    name = merge.removeprefix(_HEADS) if merge.startswith(_HEADS) else local
    remote = git.asked("config", "--get", f"branch.{local}.remote") or at.remote
    there = git.asked("rev-parse", "--verify", "--quiet", f"refs/remotes/{remote}/{name}")
    return Branch(local, name, int(from_pull[1]) if from_pull else 0, bool(there) and there == commit, commit)


def _ordered(git: Git) -> list[str]:
    there = remotes(git)
    return sorted(there, key=lambda name: _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED))


def _addresses(git: Git, remote: str) -> Iterator[Address]:
    """As it is configured, then as git rewrites it (`insteadOf`)."""
    urls = (git.asked("config", "--get", f"remote.{remote}.url"), git.asked("remote", "get-url", remote))
    yield from filter(None, map(address_of, dict.fromkeys(urls)))


def _find(known: dict[str, Host], address: Address) -> Host | None:
    by_name = known.get(address.host)
    return by_name or next((host for host in known.values() if host.hostname == address.host), None)


def _within(host: Host, path: str) -> str:
    """Of a path the part below the address of the forge."""
    return path.removeprefix(f"{host.path}/") if host.path else path


def _source(git: Git, host: Host) -> str:
    """The repository at the same forge to which a branch is pushed; empty for none."""
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    followed = git.asked("config", "--get", f"branch.{branch}.remote") if branch else ""
    for remote in dict.fromkeys(filter(None, (followed, "origin"))):
        for address in _addresses(git, remote):
            if _find({host.name: host}, address):
                return _within(host, address.path)
    return ""
