"""`opencode-web debug`: what this program sees of its surroundings, for reports of faults."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Callable, Coroutine
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import opencode_web
from agents.api.listings import skills_of
from agents.config.configuration import load
from agents.config.redaction import redacted
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Failed, Symbol
from agents.servers.lsp.uses.symbols import find_symbols
from agents.servers.lsp.uses.symbols import wire as symbols_wire
from agents.toolkit.definitions import agents
from agents.toolkit.remote_skills import remote_skills
from agents.toolkit.skills import skill_problems
from opencode_web.cli.terminal import Stop, complain, plain, say
from sessions.api.files import content_wire, nodes_wire
from sessions.core import paths as places
from sessions.core import variables
from sessions.core.platform.limits import limits
from sessions.project import browsing, search

PACKAGES = ("django", "channels", "daphne", "litellm", "mcp", "pydantic")
Told = TypeVar("Told")
MOST_LOOKED_AT = 1000
LSP_SECONDS = 30.0
"""For a server to start and to look at a file."""


def config(arguments: argparse.Namespace, directory: Path) -> None:
    """The merged configuration as JSON; what is there for other programs is noted beside it."""
    loaded = load(directory)
    for item in loaded.unused:
        if item.level == "note":
            complain(plain(str(item)))
    say(_json(redacted(loaded.config.model_dump(mode="json", by_alias=True, exclude_unset=True))))


def environment(arguments: argparse.Namespace, directory: Path) -> None:
    """What is set, and what holds where something is not."""
    for variable in variables.every():
        given, default = os.environ.get(variable.name), variable.default
        if given:
            say(f"{variable.name}={'(set)' if variable.secret else plain(given)}")
        elif default:
            say(f"# {variable.name}={default}")
    for why, names in variables.NOT_READ.items():
        for name in filter(os.environ.get, names):
            complain(f"{name} is set and not used: {why}")


def agent(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for an unknown one."""
    found = agents(load(directory).config).get(arguments.name)
    if found is None:
        raise Stop(f"there is no agent {arguments.name!r}")
    say(_json(redacted({**asdict(found), "options": dict(found.options)})))


def skill(arguments: argparse.Namespace, directory: Path) -> None:
    """Every skill with its body; what is wrong with some is told beside it."""
    for words in asyncio.run(remote_skills.fetch(load(directory).config.skills.urls)):
        complain(plain(words))
    for problem in skill_problems(directory):
        complain(plain(str(problem)))
    say(_json(skills_of(directory)))


def diagnostics(arguments: argparse.Namespace, directory: Path) -> None:
    """What the language servers of a file say of it, by its path. Raise Stop where it is not there."""
    file = _file(arguments, directory)
    found = _told(service.touch(directory, file, wait=LSP_SECONDS))
    say(_json({str(file): [asdict(one) for one in found]}))


def symbols(arguments: argparse.Namespace, directory: Path) -> None:
    """The symbols of a file by its language servers. Raise Stop where it is not there, or none answers."""
    file = _file(arguments, directory)
    try:
        found = _told(service.document_symbols(directory, file, within=LSP_SECONDS))
    except Failed as error:
        raise Stop(str(error)) from error
    say(_json(symbols_wire(found)))


def sought_symbols(arguments: argparse.Namespace, directory: Path) -> None:
    """Those of the project that fit a query, by the servers of its files."""
    say(_json(symbols_wire(_told(_sought(directory, arguments.query)))))


async def _sought(directory: Path, query: str) -> list[Symbol]:
    """A server starts with a file of its own, so each kind of file is shown once."""
    names = await search.find_files(directory, "", limit=MOST_LOOKED_AT, folders=False)
    one_of_each = {Path(name).suffix: directory / name for name in names}
    shown = (service.touch(directory, file, wait=LSP_SECONDS) for file in one_of_each.values())
    await asyncio.gather(*shown)
    return await find_symbols(directory, query)


def _file(arguments: argparse.Namespace, directory: Path) -> Path:
    file: Path = directory / arguments.path
    if not file.is_file():
        raise Stop(f"there is no file {arguments.path!r}")
    return file


def _told(asked: Coroutine[Any, Any, Told]) -> Told:
    """What the servers answer, which end then."""

    async def ask() -> Told:
        try:
            return await asked
        finally:
            await service.close()

    return asyncio.run(ask())


def files(arguments: argparse.Namespace, directory: Path) -> None:
    """The paths of the project, or those that a query means, one a line."""
    for path in asyncio.run(search.find_files(directory, arguments.query, limit=arguments.limit)):
        say(plain(path))


def lines(arguments: argparse.Namespace, directory: Path) -> None:
    """Where a pattern is found, as ripgrep's JSON has it. Raise Stop for a pattern that is none."""
    try:
        say(_json(asyncio.run(search.find_text(directory, arguments.pattern, limit=arguments.limit))))
    except search.SearchFailed as error:
        raise Stop(str(error)) from error


def matches(arguments: argparse.Namespace, directory: Path) -> None:
    """The paths that a query means, as JSON."""
    say(_json(asyncio.run(search.find_files(directory, arguments.query, limit=arguments.limit))))


def read(arguments: argparse.Namespace, directory: Path) -> None:
    _say_of_file(content_wire, arguments, directory)


def entries(arguments: argparse.Namespace, directory: Path) -> None:
    _say_of_file(nodes_wire, arguments, directory)


def _say_of_file(wire: Callable[[Path, str], object], arguments: argparse.Namespace, directory: Path) -> None:
    """What the API says of a path of the project. Raise Stop where it cannot be read."""
    try:
        say(_json(wire(directory, arguments.path)))
    except browsing.Unreadable as error:
        raise Stop(str(error)) from error


def info(arguments: argparse.Namespace, directory: Path) -> None:
    say(f"opencode-web {opencode_web.__version__}")
    say(f"Python {sys.version.split()[0]} on {platform.platform()}")
    for name in PACKAGES:
        say(f"{name} {version(name)}")
    for limit in limits():
        say(limit)


def paths(arguments: argparse.Namespace, directory: Path) -> None:
    for name, path in {
        "home": places.home(),
        "data": places.data_directory(),
        "config": places.config_directory(),
        "keys": places.auth_files()[0],
        "logs": places.logs(),
        "snapshots": places.snapshots(),
        "worktrees": places.worktrees(),
    }.items():
        say(f"{name:<12}{path}")


def _json(data: object) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, default=str)
