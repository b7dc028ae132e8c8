"""`opencode-web auth`: keys and sign-ins of providers, in our `auth.json`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from getpass import getpass
from pathlib import Path

from agents.config.configuration import load
from agents.llm.accounts import attempts, keeping, plugged
from agents.llm.accounts.flows.base import KEY, InvalidInput, Method, SignInFailed
from agents.llm.accounts.methods import applies, methods_of
from agents.llm.accounts.plugged import Found
from agents.llm.accounts.state import State, states
from agents.plugins.loaded import load_here
from opencode_web.cli.terminal import Stop, say, table

BY_KEY = "API key"


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """What is connected, and by what; of a key only its end."""
    found = [state for state in asyncio.run(_states(directory)) if state.by]
    if found:
        table(("Provider", "Name", "Connected by", ""), [_row(state) for state in found])
    say(f"{len(found)} connected" if found else "0 connected; `opencode-web auth login` adds a key")


async def _states(directory: Path) -> list[State]:
    return await states(load(directory).config, await _plugged(directory))


async def _plugged(directory: Path) -> Found:
    """What plugins add, which run in this process."""
    await load_here(directory)
    return plugged.latest(directory)


def _row(state: State) -> Sequence[str]:
    detail = f"…{state.detail}" if state.by == "key" and state.detail else state.detail
    return (state.id, state.name, state.by, " ".join(filter(None, (detail, state.label))))


def login(arguments: argparse.Namespace, directory: Path) -> None:
    """Keep a key, or sign in where a provider has that. Raise Stop when it fails."""
    provider = arguments.provider or _line("Provider (its id, such as anthropic): ", "--provider")
    try:
        asyncio.run(_connect(provider, arguments.method, directory))
    except (InvalidInput, SignInFailed) as error:
        raise Stop(str(error)) from error
    say(f"{provider} is connected")


def logout(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop for a provider that has no entry of ours."""
    own = asyncio.run(keeping.own())
    if not own:
        raise Stop("there is no key or sign-in here; keys in the environment are removed there")
    provider = arguments.provider or _line(f"Provider ({', '.join(own)}): ", "the provider")
    if provider not in own:
        raise Stop(f"there is no key or sign-in of {provider!r} here")
    try:
        asyncio.run(keeping.forget(provider))
    except SignInFailed as error:
        raise Stop(str(error)) from error
    say(f"{provider} is forgotten")


async def _connect(provider: str, wanted: str | None, directory: Path) -> None:
    method = _method(methods_of(provider, await _plugged(directory)), wanted)
    await (
        _sign_in(provider, method) if method else keeping.keep(provider, {"type": "api", KEY: _key(provider)})
    )


def _method(methods: Sequence[Method], wanted: str | None) -> Method | None:
    """The sign-in that was asked for; None for a key."""
    labels = [method.label for method in methods] + [BY_KEY]
    if wanted is None:
        if len(labels) == 1:
            return None
        wanted = _line(f"How ({' / '.join(labels)})? ", f"--method ({' / '.join(labels)})")
    found = [label for label in labels if label.lower().startswith(wanted.lower())]
    if len(found) != 1:
        raise Stop(f"{wanted!r} is none of: {', '.join(labels)}", 2)
    return next((method for method in methods if method.label == found[0]), None)


def _key(provider: str) -> str:
    """Not shown while it is typed; one that is piped in is read as a line."""
    key = getpass(f"API key of {provider}: ") if sys.stdin.isatty() else sys.stdin.readline()
    return key.rstrip("\n")


async def _sign_in(provider: str, method: Method) -> None:
    inputs: dict[str, str] = {}
    for prompt in method.prompts:
        if applies(prompt.get("when"), inputs):
            choice = " / ".join(option["value"] for option in prompt.get("options", ()))
            inputs[prompt["key"]] = _line(
                f"{prompt['message']}{choice and f' ({choice})'}: ", prompt["message"]
            )
    if method.takes_key:
        inputs[KEY] = _key(provider)
    attempt = await attempts.begin(provider, method, inputs)
    if attempt.begun.url:
        say(f"Open {attempt.begun.url}\n{attempt.begun.instructions}\nWaiting …")
    if attempt.begun.take is not None:
        attempt.begun.take(_line("The code that the page shows: ", "the code"))
    await attempts.finish(attempt)


def _line(question: str, wanted: str) -> str:
    """Raise Stop where nobody can be asked for what is wanted."""
    if not sys.stdin.isatty():
        raise Stop(f"{wanted} is missing, and nobody can be asked: standard input is no terminal", 2)
    return input(question).strip()
