"""`opencode-web debug`: what this program sees of its surroundings, for reports of faults."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import opencode_web
from agents.config.configuration import load
from agents.config.redaction import redacted
from agents.toolkit.definitions import agents
from agents.toolkit.skills import discover
from opencode_web.cli.terminal import Stop, complain, plain, say
from sessions.core import paths as places
from sessions.core.platform.limits import limits

PACKAGES = ("django", "channels", "daphne", "litellm", "mcp", "pydantic")


def config(arguments: argparse.Namespace, directory: Path) -> None:
    """The merged configuration as JSON; what is there for other programs is noted beside it."""
    loaded = load(directory)
    for item in loaded.unused:
        if item.level == "note":
            complain(plain(str(item)))
    say(_json(redacted(loaded.config.model_dump(mode="json", by_alias=True, exclude_unset=True))))


def agent(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for an unknown one."""
    found = agents(load(directory).config).get(arguments.name)
    if found is None:
        raise Stop(f"there is no agent {arguments.name!r}")
    say(_json(redacted({**asdict(found), "options": dict(found.options)})))


def skill(arguments: argparse.Namespace, directory: Path) -> None:
    found = discover(directory, load(directory).config)
    for problem in found.problems:
        complain(plain(str(problem)))
    for name, item in found.skills.items():
        say(f"{name}  {item.location}")


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
