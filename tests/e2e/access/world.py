"""One server with a session in each condition that a page can show."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import BrowserContext, Page, expect

from tests.agents.servers.mcp.watching import raw
from tests.e2e import apps
from tests.e2e.conftest import ASKED, repository
from tests.e2e.stage import Stage, Tab
from tests.e2e.test_accounts import PLUGIN
from tests.loopback.forges import TOKEN, ForgeServer
from tests.loopback.script import HttpError, ToolUse, Turn
from tests.runtime.servers import ready
from tests.server import until
from tests.sessions.changes.git.conftest import git
from tests.sessions.transfer import making

WIDE_TABLE = "| " + " | ".join(["a wide column"] * 14) + " |\n" + "|---" * 14 + "|\n" + "| cell" * 14 + " |\n"
ANSWER = f"""# What I found

Some `code`, a [link](https://example.com) and **strong** words.

{WIDE_TABLE}
> A quote.

```python
# A comment
def greet(name: str) -> str:
    return "A line of code that is far too long to be shown without scrolling it to the side, {"on " * 30}"
```

## The next step

1. First
2. Second
"""
LINES = "".join(f"line {number}  # a comment\n" for number in range(1, 41))
CHANGED = LINES.replace("line 3 ", "line three ").replace("line 30 ", "line thirty ")
TODOS = [
    {"id": "1", "content": "Look around", "status": "completed", "priority": "high"},
    {"id": "2", "content": "Change it", "status": "in_progress", "priority": "high"},
    {"id": "3", "content": "Run the tests", "status": "pending", "priority": "low"},
]
QUESTION = {
    "question": "Which database shall it be?",
    "header": "Database",
    "options": [{"label": "PostgreSQL", "description": "What is there already"}, {"label": "SQLite"}],
}
WORK = (
    Turn(
        reasoning="I look first.",
        text=ANSWER,
        tools=[
            ToolUse("read", {"filePath": "hello.py"}),
            ToolUse("todowrite", {"todos": TODOS}),
            ToolUse("write", {"filePath": "work.py", "content": CHANGED}),
            ToolUse("bash", {"command": "seq 200; exit 3", "description": "Count"}),
        ],
    ),
    Turn(text="Done."),
)


def write(path: str, content: str = CHANGED) -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": path, "content": content})])


@dataclass
class World:
    """`sessions` has the id of each session by its title."""

    stage: Stage
    context: BrowserContext
    forge: ForgeServer
    sessions: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.stage.server.url

    @property
    def project(self) -> str:
        return f"{self.url}{self.stage.home_path}"

    async def tab(self, session: str = "") -> Tab:
        """The page of a session by its title, all of it loaded."""
        tab = await self.stage.tab(self.context, self.sessions.get(session, ""))
        await settled(tab.page)
        return tab

    async def page(self, address: str) -> Page:
        """A page of the person who is signed in, all of it loaded."""
        page = await self.context.new_page()
        await page.goto(address)
        await settled(page)
        return page

    async def fill(self) -> None:
        """Every session; of those that ask each is left with its question open."""
        client = self.stage.client
        await ready(client, "weather_reaching")
        for title, turns in TURNS.items():
            self.stage.plays(*turns)
            self.sessions[title] = session = await self.stage.session(title)
            if title == "staged":
                await client.http.patch(f"/session/{session}", json={"staging": True})
            if title in ("beside", "staged"):
                folders = [{"path": str(self.stage.home.parent / "library"), "write": True}]
                await client.http.patch(f"/session/{session}", json={"folders": folders})
            if title in ("networking", "serving"):
                await client.http.patch(f"/session/{session}", json={"preset": "alone"})
            if title not in ASKS:
                await client.prompt(session, f"Do what is {title}.")
                continue
            async with client.events() as events:
                await client.prompt_async(session, f"Do what is {title}.")
                await until(events, ASKS[title], sessionID=session)
        await (await self.tab()).page.close()  # the cookie, for pages without a session
        undone = self.sessions["undone"]
        await client.revert(undone, (await client.messages(undone))[0]["info"]["id"])


DIAGRAMS = "```mermaid\nflowchart LR\n  A --> B\n```\n\n```mermaid\nwrong\n```\n"
DRAWN = f"It is $x^2$.\n\n$$\n\\frac{{1}}{{2}}\n$$\n\n{DIAGRAMS}"
GETS = "python3 -c \"import urllib.request as u; u.urlopen('http://packages.example/index')\""
SERVES = "python3 -m http.server --bind 127.0.0.1 8123 &"
TURNS: dict[str, tuple[Turn, ...]] = {
    "worked": WORK,
    "undone": (write("undone.txt"), Turn(text="Written.")),
    "staged": (write("staged.txt"), write("library/src/staged.txt"), Turn(text="Staged.")),
    "beside": (write("library/src/beside.txt"), write("own.txt"), Turn(text="Written.")),
    "failed": (Turn(fault=HttpError(400, "no such thing")),),
    "commanding": (Turn(tools=[ToolUse("bash", {"command": "touch made.txt"})]),),
    "editing": (write("asked.txt"),),
    "questioning": (Turn(tools=[ToolUse("question", {"questions": [QUESTION]})]),),
    "planning": (Turn(text="A plan."),),
    "drawn": (Turn(text=DRAWN),),
    "serving": (
        Turn(tools=[ToolUse("bash", {"command": SERVES, "description": "Serve the folder"})]),
        Turn(text="It runs."),
    ),
    "app": (Turn(tools=[ToolUse("weather_reaching", {"city": "Paris"})]), Turn(text="There it is.")),
    "networking": (
        Turn(tools=[ToolUse("bash", {"command": "touch made.txt", "description": "Make a file"})]),
        Turn(tools=[ToolUse("bash", {"command": GETS, "description": "Fetch the index"})]),
    ),
}
ASKS = {
    **dict.fromkeys(("commanding", "editing", "networking"), "permission.asked"),
    "questioning": "question.asked",
}


def at_forge(stage: Stage, forge: ForgeServer) -> None:
    """The project of a stage is at a forge, whose token is kept."""
    data = stage.home / ".local" / "share" / "opencode-web"
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    entry = {"kind": forge.kind, "address": forge.url, "token": TOKEN}
    (data / "forges.json").write_text(json.dumps({forge.url.removeprefix("http://"): entry}))
    (data / "forges.json").chmod(0o600)
    git(stage.project, "remote", "add", "origin", forge.remote)


async def settled(page: Page) -> None:
    """No fragment is on its way."""
    busy = ".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added, #connection[data-state=connecting]"
    await page.wait_for_load_state()
    await expect(page.locator(busy)).to_have_count(0)


def staged(folder: Path) -> Stage:
    """A stage whose project has files, servers and something to import; not started."""
    home, project = folder / "home", repository(folder / "project")
    home.mkdir()
    (folder / "library" / "src").mkdir(parents=True)
    (project / "work.py").write_text(LINES)
    (project / "Dockerfile").write_text("FROM scratch\n")
    plugins = home / ".config" / "opencode" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "signs_in.py").write_text(PLUGIN.replace('"acme"', '"fake"'))
    data = home / ".local" / "share" / "opencode"
    making.files(data, making.session(project, title="About flows"), making.conversation(project))
    own = json.dumps({"mcp": {"theirs": raw()}})
    (project / "opencode.json").write_text(own)
    command = {"greet": {"template": "Greet $1", "description": "Greets somebody"}}
    servers = {"ours": raw(), "weather": apps.server(folder, apps=True)}
    return Stage(home, project, permission=ASKED, mcp=servers, command=command, lsp=True)
