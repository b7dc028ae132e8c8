"""What a server suggests for an argument that is being written (MCP, server/utilities/completion)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agents.mcp.connection import Connection
from agents.mcp.errors import ServerFailed
from agents.mcp.offered.prompts import Argument, Prompt
from agents.mcp.offered.texts import clean

if TYPE_CHECKING:
    from mcp import Client

SECONDS = 2.0
"""That a server has: somebody is typing."""
MOST = 12
LONGEST = 200
"""Characters of a value; one that is longer is left out."""
_OPEN = re.compile(r'(?:"[^"]*|\S*)\Z')


@dataclass(frozen=True, slots=True)
class Writing:
    """The argument at the end of what is written, what there is of it, and the arguments before it. `named`:
    it is written as `name=value`."""

    argument: Argument
    begun: str
    before: Mapping[str, str]
    named: bool

    def put(self, value: str) -> str:
        """How a value is written in its place."""
        word = f"{self.argument.name}={value}" if self.named else value
        return f'"{word}"' if re.search(r"\s", word) or not word else word


def writing(prompt: Prompt, written: str) -> Writing | None:
    """None where no argument is left to be written."""
    open = _OPEN.search(written)
    assert open is not None
    word = open[0].removeprefix('"')
    before = prompt.given(written[: open.start()])
    known = {one.name: one for one in prompt.arguments}
    name, equals, value = word.partition("=")
    if equals and name in known:
        return Writing(known[name], value, before, named=True)
    left = [one for one in prompt.arguments if one.name not in before]
    return Writing(left[0], word, before, named=False) if left else None


async def for_prompt(prompt: Prompt, at: Writing) -> Sequence[str]:
    """The values that the server suggests; none where it knows none, fails, or takes too long."""
    reference = {"type": "ref/prompt", "name": prompt.name}
    return await _asked(prompt.connection, reference, at.argument.name, at.begun, at.before)


async def for_template(
    connection: Connection, template: str, name: str, begun: str, before: Mapping[str, str]
) -> Sequence[str]:
    """The same for a variable of a resource's template."""
    return await _asked(connection, {"type": "ref/resource", "uri": template}, name, begun, before)


async def _asked(
    connection: Connection, reference: Mapping[str, str], name: str, begun: str, before: Mapping[str, str]
) -> Sequence[str]:
    async def use(client: Client) -> Sequence[str]:
        if client.server_capabilities.completions is None:
            return ()
        types: Any = import_module("mcp.types")
        prompt = reference["type"] == "ref/prompt"
        kind = types.PromptReference if prompt else types.ResourceTemplateReference
        argument = {"name": name, "value": begun}
        answer = await client.complete(kind(**reference), argument, dict(before) or None)
        return answer.completion.values

    if connection.state.status != "connected":
        return ()
    try:
        found = await connection.call(use, SECONDS)
    except ServerFailed:
        return ()
    short = (value for value in found if value and len(value) <= LONGEST and value == clean(value))
    return [value for value in dict.fromkeys(short) if value != begun][:MOST]
