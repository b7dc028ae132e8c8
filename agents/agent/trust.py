"""All that a project asks for, trusted or not: its configuration, plugins, custom tools, commands, what
runs with its language servers and with git, its schedules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.agent.context.sources import discovery
from agents.agent.git_programs import wants as git_programs
from agents.agent.offered.naming import sanitised
from agents.agent.schedules import files as schedules
from agents.config.configuration import load
from agents.config.trust.code import CodeFile, code_files
from agents.config.trust.store import TrustStore, digest
from agents.config.trust.wants import Content, Want, Wish
from agents.servers.lsp.trusted import wants as servers
from sessions.core.repository import Repository

_WORDS = {
    "plugin": gettext_noop("Runs inside of this server"),
    "tool": gettext_noop("Gives the agent tools and runs them"),
    "packages": gettext_noop("Installs packages for plugins and tools"),
    "module": gettext_noop("Is a part of plugins and tools"),
}


class Changed(Exception):
    """What was to be trusted is no longer what the project holds; the text is for people."""


def wants(directory: Path) -> list[Want]:
    """In the order they take effect. Reads files."""
    loaded = load(directory)
    code = (_want(file) for file in code_files(directory) if not file.own)
    return [
        *loaded.wants,
        *(want for want in code if want is not None),
        *servers(directory),
        *git_programs(directory),
        *schedules.wants(directory),
        *_linked(directory, loaded.config.instructions),
    ]


def _linked(directory: Path, instructions: Sequence[str]) -> list[Want]:
    try:
        return discovery.wants(directory, Repository.of(directory).worktree, instructions)
    except OSError:  # no such folder, so no files either
        return []


def untrusted(directory: Path) -> list[Want]:
    return [want for want in wants(directory) if not want.trusted]


def fingerprint(asked: Sequence[Want]) -> str:
    """One digest for all that a person is shown."""
    return digest(json.dumps([sorted(want.digests.items()) for want in asked]).encode())


def trust(directory: Path, shown: str) -> None:
    """Trust what the user was shown, known by its fingerprint. Raises Changed when the project asks for
    something else by now, and then trusts nothing."""
    asked = untrusted(directory)
    if not asked or fingerprint(asked) != shown:
        raise Changed(gettext("The files have changed since they were shown. Look at them again."))
    digests = {name: sha for want in asked for name, sha in want.digests.items()}
    _store().grant(Repository.of(directory).worktree, digests)


def trusted() -> dict[str, dict[str, str]]:
    """What is trusted of every project: digests by name, by worktree. Raises OSError, BrokenFile."""
    return _store().all()


def revoke(directory: Path) -> None:
    _store().revoke(Repository.of(directory).worktree)


def _store() -> TrustStore:
    return TrustStore(Path(settings.TRUST_FILE))


def _want(file: CodeFile) -> Want | None:
    if file.problem:
        return None
    content = Content(file.name, file.digest, file.content.decode("utf-8", "replace"))
    wishes: Sequence[Wish] = [Wish("", _WORDS[file.kind])]
    return Want([content], wishes, file.trusted)


def waiting_command(directory: Path, name: str) -> str:
    """The file of the project that has a command of this name and is not trusted yet; empty for none. Reads
    files."""
    return _waiting(directory, lambda want, wish: wish.key == f"command.{name}")


def waiting_tool(directory: Path, name: str) -> str:
    """The same for a tool of this name: one of a file with tools, or of an MCP server. Reads files."""

    def gives(want: Want, wish: Wish) -> bool:
        server = wish.key.removeprefix("mcp.")
        if server != wish.key:
            return name.startswith(f"{sanitised(server)}_")
        text = want.contents[0].text if wish.words == _WORDS["tool"] else ""
        return re.search(rf"tool\(\s*['\"]{re.escape(name)}['\"]", text) is not None

    return _waiting(directory, gives)


def _waiting(directory: Path, matches: Callable[[Want, Wish], bool]) -> str:
    found = (want.name for want in untrusted(directory) for wish in want.wishes if matches(want, wish))
    return next(found, "")
