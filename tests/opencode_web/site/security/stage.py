"""A conversation in which all is hostile: title, names, files, output and what the model says."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.audit import HOSTILE
from tests.opencode_web.site.security.browser import Browser, browsing
from tests.server import Server, model_config, running, until

NAME = "'\"><pwned onpwned=1>\u202e.py"
CONTROL = "\x1b[31mred\x1b]8;;javascript:pwned()\x07link\x1b]8;;\x07 \x9b31m \x07\x08\u202eabc\u2066 end"
ELSEWHERE = "https://elsewhere.example"
METRICS = {"OPENCODE_WEB_METRICS": "1"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SVG = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4="
MARKDOWN = f"""
{HOSTILE}

[a](javascript:pwned()) [b](data:text/html,<pwned>) [c](JaVaScRiPt:x) [d](vbscript:x) [e](//elsewhere.example)
[f]({ELSEWHERE}/page "t{HOSTILE}") <javascript:pwned()> ![i]({ELSEWHERE}/spy.png)
![j](data:image/png;base64,{PNG})
[![k]({ELSEWHERE}/spy.png)]({ELSEWHERE}) <img src="{ELSEWHERE}/spy.png" onerror="pwned()"> [g](/%2e%2e/x)

```py"><pwned>
{HOSTILE} {CONTROL}
```

| {HOSTILE} | :-: |
|--|:-:|
| {CONTROL} | <pwned> |

{CONTROL}
"""
ASKED = {
    "*": "allow",
    "bash": {"*": "allow", "touch *": "ask"},
    "edit": {"*": "allow", "asked*": "ask", "ruled*": "ask"},
}


def _script(folder: Path, between: Sequence[Turn]) -> list[Turn]:
    todo = {"content": HOSTILE + CONTROL, "status": HOSTILE, "priority": HOSTILE, "id": "1"}
    (folder / "data.txt").write_text(f"{HOSTILE}\n{CONTROL}\nsecond\n")
    (folder / NAME).write_text(f"{HOSTILE}\n{CONTROL}\n")
    shell = f"cat data.txt; printf '\\033[31m%s' {json.dumps('</pre><pwned onpwned=1>')}; ls; exit 3"
    return [
        Turn(
            reasoning=MARKDOWN,
            text=MARKDOWN,
            tools=[
                ToolUse("read", {"filePath": NAME}),
                ToolUse("read", {"filePath": "data.txt"}),
                ToolUse("write", {"filePath": f"new{NAME}", "content": HOSTILE + CONTROL}),
                ToolUse("edit", {"filePath": NAME, "oldString": HOSTILE, "newString": "a" + HOSTILE}),
                ToolUse("bash", {"command": shell, "description": HOSTILE + CONTROL}),
                ToolUse("glob", {"pattern": "*pwned*"}),
                ToolUse("grep", {"pattern": "pwned"}),
                ToolUse("list", {}),
                ToolUse("todowrite", {"todos": [{**todo, "status": "pending", "priority": "high"}]}),
                ToolUse(HOSTILE[:40], {HOSTILE: CONTROL}, id="'\"><pwned onpwned=1>"),
                ToolUse("read", {"filePath": "missing" + HOSTILE}),
            ],
        ),
        Turn(text=MARKDOWN),
        *between,
        Turn(tools=[ToolUse("write", {"filePath": f"asked{NAME}", "content": HOSTILE + CONTROL})]),
        Turn(
            tools=[
                ToolUse("bash", {"command": f"touch 'x{HOSTILE[1:]}' # {CONTROL}", "description": CONTROL})
            ]
        ),
        Turn(text="Done."),
    ]


@dataclass
class Stage:
    """The server, both kinds of client, and the conversation: `base` is its page's path."""

    server: Server
    client: Client
    browser: Browser
    project: str = ""
    session: str = ""
    history: list[dict[str, Any]] = field(default_factory=list)
    frames: list[str] = field(default_factory=list)
    ids: dict[str, str] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return f"/p/{self.project}/s/{self.session}"

    @property
    def prompt(self) -> str:
        return str(self.history[0]["info"]["id"])

    async def ask(self) -> dict[str, Any]:
        """Run the next turn up to its question."""
        async with self.client.events() as events:
            await self.client.prompt_async(self.session, "Go on.")
            asked = await until(events, "permission.asked", sessionID=self.session)
        return dict(asked.properties)


@asynccontextmanager
async def hostile(home: Path, folder: Path, between: Sequence[Turn] = ()) -> AsyncIterator[Stage]:
    """After the first turn; `between` and two more turns, which ask for a permission each, are ahead."""
    problem = {"keybinds": {HOSTILE: 1}, "agent": {NAME: {"mode": HOSTILE}}, HOSTILE: CONTROL}
    (folder / "opencode.json").write_text(json.dumps(problem))
    async with OpenAIServer(_script(folder, between)) as model:
        server = Server(home, folder, model_config(model.base_url, permission=ASKED), METRICS)
        async with running(server) as client, browsing(server) as browser:
            stage = Stage(server, client, browser)
            created = await client.create_session(HOSTILE + CONTROL)
            stage.session, stage.project = created["id"], created["projectID"]
            await _first_turn(stage)
            yield stage


async def _first_turn(stage: Stage) -> None:
    parts = [
        {"type": "text", "text": MARKDOWN},
        {"type": "file", "mime": "image/svg+xml", "url": SVG, "filename": HOSTILE},
        {"type": "file", "mime": "image/png", "url": f"{ELSEWHERE}/spy.png", "filename": "remote.png"},
        {"type": "file", "mime": "image/png", "url": f"data:image/png;base64,{PNG}", "filename": HOSTILE},
        {"type": "file", "mime": "text/html", "url": "data:text/html,<pwned>", "filename": NAME},
    ]
    async with stage.browser.socket(f"/ws/p/{stage.project}/?session={stage.session}") as socket:
        await stage.client.post(f"/session/{stage.session}/message", {"parts": parts})
        stage.history = await stage.client.messages(stage.session)
        ended = f'id="{stage.history[-1]["info"]["id"]}-foot"'
        html = ""
        while ended not in html or "byline" not in html:
            frame = json.loads(await socket.recv())
            html = frame.get("html", "")
            stage.frames += [html, *(item["html"] for item in frame.get("missing", ()))]
