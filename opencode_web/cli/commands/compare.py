"""`opencode-web compare`: one prompt tried several ways, and what each came to."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.link import Link
from opencode_web.cli.commands.run import link_of, message_of, model_of, shown
from opencode_web.cli.terminal import Stop, say, table

LOOK_SECONDS = 1.0
_HEAD = (
    "",
    "model",
    "agent",
    "ended",
    "checks",
    "tests",
    "problems",
    "files",
    "lines",
    "time",
    "tokens",
    "cost",
)

Info = Mapping[str, Any]


def compare(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where no attempt passes its checks (1), for a wrong argument (2), and when it is interrupted
    (130)."""
    text = message_of(arguments)
    if not text:
        raise Stop("there is no message to be tried", 2)
    ways = _ways(arguments)
    try:
        asyncio.run(_compare(link_of(arguments, directory), arguments, text, ways))
    except (ValueError, RemoteError) as error:
        raise Stop(str(error)) from error
    except KeyboardInterrupt as error:
        raise Stop("interrupted; the attempts were stopped", 130) from error


def _ways(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Each model with each agent, so many times. Raise Stop for what is no model."""
    models = [_model(ref) for ref in arguments.model] or [None]
    agents = arguments.agent or [""]
    found = []
    for model, agent, _ in product(models, agents, range(arguments.times)):
        found.append({"agent": agent, **({"model": model} if model else {})})
    return found


def _model(ref: str) -> dict[str, str] | None:
    name, _, variant = ref.partition("#")
    found = model_of(name)
    return {**found, "variant": variant} if found and variant else found


async def _compare(
    link: Link, arguments: argparse.Namespace, text: str, ways: Sequence[Mapping[str, Any]]
) -> None:
    body: dict[str, Any] = {"prompt": text, "attempts": list(ways), "checks": arguments.check}
    body |= {"judge": arguments.judge, "atOnce": arguments.at_once}
    if arguments.mode:
        body["preset"] = arguments.mode
    async with link:
        begun = await link.post("/comparison", body)
        try:
            ended = await _followed(link, begun)
        except asyncio.CancelledError:
            await asyncio.shield(link.post(f"/comparison/{begun['id']}/stop"))
            raise
    if arguments.format == "json":
        say(json.dumps(ended, ensure_ascii=False, indent=2))
    else:
        _print(ended)
    if not any(_passes(one) for one in ended["attempts"]):
        raise Stop("no attempt is as it was wanted")


async def _followed(link: Link, begun: Info) -> Info:
    """The comparison once it has ended; what becomes of it meanwhile is said on standard error."""
    said: dict[int, str] = {}
    now = begun
    while True:
        for one in now["attempts"]:
            state = f"{one['state']} {one['doing']}".strip()
            if said.get(one["number"]) != state:
                said[one["number"]] = state
                sys.stderr.write(f"| {one['number']}  {shown(_name(one))}  {shown(state)}\n")
                sys.stderr.flush()
        if now["state"] == "done":
            return now
        await asyncio.sleep(LOOK_SECONDS)
        now = await link.get(f"/comparison/{begun['id']}")


def _passes(one: Info) -> bool:
    return one["state"] == "measured" and not one["error"] and all(check["passed"] for check in one["checks"])


def _print(ended: Info) -> None:
    table(_HEAD, [_row(ended, one) for one in ended["attempts"]])
    for one in ended["attempts"]:
        for words in filter(None, (one["error"], one["words"])):
            say(f"{one['number']}: {shown(words)}")
    if ended["words"]:
        say(f"The judge: {shown(ended['words'])}")
    for one in ended["attempts"]:
        if one.get("directory"):
            say(f"{one['number']} is in {shown(one['directory'])}")


def _row(ended: Info, one: Info) -> list[str]:
    checks, tests, problems = one["checks"], one.get("tests"), one.get("problems")
    best = "*" if one["number"] == ended["best"] else ""
    passed = sum(bool(check["passed"]) for check in checks)
    price = f"${one['cost']:,.4f}" if one["cost"] else "" if not one["tokens"] else "no price"
    return [
        f"{one['number']}{best}",
        _name(one),
        one["agent"],
        one["state"] if one["state"] != "measured" else "with an error" if one["error"] else "in order",
        f"{passed}/{len(checks)}" if checks else "",
        f"{tests['passed']} passed, {tests['failed']} failed" if tests else "",
        f"{problems['before']} → {problems['after']}" if problems else "",
        str(one["files"]),
        f"+{one['additions']} -{one['deletions']}",
        f"{one['time'] / 1000:,.0f} s",
        f"{one['tokens']:,}",
        price,
    ]


def _name(one: Info) -> str:
    model = one["model"]
    variant = f"#{model['variant']}" if model.get("variant") else ""
    return f"{model['providerID']}/{model['modelID']}{variant}"
