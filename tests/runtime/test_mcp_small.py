"""What the model is told of a server that is written as the first examples of the Python SDK are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.loopback.script import ToolUse, Turn
from tests.runtime.servers import ready
from tests.runtime.staging import outputs
from tests.server import serving

PROGRAM = Path(__file__).with_name("small_server.py")
SMALL: dict[str, Any] = {"mcp": {"small": {"type": "local", "command": [sys.executable, str(PROGRAM)]}}}


async def test_a_result_is_told_once(home: Path, project: Path) -> None:
    """What the SDK wraps into `{"result": …}` for its schema is the text that is there already."""
    script = [
        Turn(
            tools=[
                ToolUse("small_add", {"a": 40, "b": 2}),
                ToolUse("small_greet", {"name": "Ada"}),
                ToolUse("small_names", {}),
            ]
        ),
        Turn(text="Done."),
    ]
    async with serving(home, project, script, **SMALL) as (client, _):
        await ready(client, "small_add")
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Call them.")
        assert await outputs(client, session["id"]) == ["42", "Hello, Ada", "one\n\ntwo"]
