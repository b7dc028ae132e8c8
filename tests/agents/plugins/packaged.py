"""What an installed package would name as its entry point."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from opencode_web.plugin import PluginContext, ShellEnv


async def plugin(ctx: PluginContext) -> Mapping[str, Any]:
    async def env(input: Mapping[str, Any], output: ShellEnv) -> None:
        output["env"]["PACKAGED"] = ctx.project

    return {"shell.env": env}
