"""`opencode-web models`: what can be asked in a folder."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.llm.types import Model
from agents.toolkit.catalog import providers_of
from opencode_web.cli.terminal import Stop, say


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    """One `provider/model` a line, with JSON below it when asked for. Raise Stop for an unknown provider."""
    providers = asyncio.run(providers_of(directory))
    if arguments.provider is not None and arguments.provider not in providers:
        raise Stop(
            f"there is no provider {arguments.provider!r} here; `opencode-web auth login` adds its key"
        )
    for provider in providers.values():
        for model in provider.models.values() if arguments.provider in (None, provider.id) else ():
            say(model.ref)
            if arguments.verbose:
                say(json.dumps(_details(model), indent=2))


def _details(model: Model) -> dict[str, Any]:
    return {
        "id": model.model_id,
        "providerID": model.provider_id,
        "name": model.name,
        "capabilities": {
            "toolcall": model.tool_call,
            "reasoning": model.reasoning,
            "attachment": model.attachment,
        },
        "limit": {"context": model.context, "output": model.output},
        "cost": asdict(model.price),
        "variants": sorted(model.variants),
    }
