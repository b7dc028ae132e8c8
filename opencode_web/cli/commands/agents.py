"""`opencode-web agent`: list agents, write a new one."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

import yaml

from agents.config.configuration import load
from agents.toolkit.definitions import agents
from agents.tools.registry import BUILTIN
from opencode_web.cli.terminal import Stop, say

DEFAULT_FOLDER = ".opencode"
_AGENTS = ("agent", "agents")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    for agent in agents(load(directory).config).values():
        say(f"{agent.name} ({agent.mode})")
        rules = [
            {"permission": rule.permission, "pattern": rule.pattern, "action": rule.action}
            for rule in agent.permission
        ]
        say(json.dumps(rules, indent=2))


def create(arguments: argparse.Namespace, directory: Path) -> None:
    """Write `<folder>/agents/<name>.md`; its text is the description until somebody writes a better prompt.

    Raise Stop for what is missing or wrong, and rather than overwrite a file.
    """
    description = (arguments.description or _ask("What is the agent for? ")).strip()
    name = arguments.name or _slug(description)
    if not _NAME.fullmatch(name):
        raise Stop(f"{name!r} is no name for an agent: small letters, digits and hyphens", 2)
    folder = directory / (arguments.path or DEFAULT_FOLDER)
    if folder.name not in _AGENTS:  # where agents are looked for
        folder /= _AGENTS[-1]
    path = folder / f"{name}.md"
    head = {"description": description, "mode": arguments.mode}
    if arguments.model:
        head["model"] = arguments.model
    rules = _rules(arguments.permissions)
    front = yaml.safe_dump({**head, **({"permission": rules} if rules else {})}, sort_keys=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(f"---\n{front}---\n\n{description}\n")
    except FileExistsError as error:
        raise Stop(f"{path} exists already") from error
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror}") from error
    say(str(path))


def _ask(question: str) -> str:
    if not sys.stdin.isatty():
        raise Stop("--description is missing", 2)
    return input(question)


def _slug(description: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", description.lower())[:4])[:64].strip("-")


def _rules(given: str | None) -> dict[str, str]:
    """Everything else is denied when permissions are named. Raise Stop for an unknown one."""
    if given is None:
        return {}
    wanted = [word.strip() for word in given.split(",") if word.strip()]
    known = {tool.permission for tool in BUILTIN}
    if unknown := sorted(set(wanted) - known):
        raise Stop(f"unknown permissions: {', '.join(unknown)}; there are {', '.join(sorted(known))}", 2)
    return {"*": "deny", **dict.fromkeys(wanted, "allow")}
