"""The demo model `demo/scripted`: no network, no learning, the same steps every time.

It looks at what the conversation holds since the last user message and takes the next step of a fixed
round. So the real loop, the real tools and the real questions are seen before any key is set.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.llm.types import (
    ChatMessage,
    Finish,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
    ToolResultContent,
    Usage,
)

_DELAY = 0.02
_CHUNK = re.compile(r"(?:\s*\S{1,16}){1,3}|\s+")
_IS_GIT = "Is directory a git repository: yes"
_CHARACTERS_PER_TOKEN = 4


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Play the next step. Option `delay`: seconds between two chunks (0.02)."""
    delay = float(request.settings.body.get("delay", _DELAY))
    step = _next_step(request)
    spoken = 0
    for event in _events(step, len(request.messages)):
        if isinstance(event, TextDelta | ToolInputDelta):
            spoken += len(event.text)
        if not isinstance(event, ToolCall):
            await asyncio.sleep(delay)
        yield event
    heard = sum(map(len, request.system)) + sum(map(_length, request.messages))
    usage = Usage(
        input=heard // _CHARACTERS_PER_TOKEN,
        output=spoken // _CHARACTERS_PER_TOKEN,
        reasoning=len(step.thoughts) // _CHARACTERS_PER_TOKEN,
    )
    yield Finish("tool-calls" if step.calls else "stop", usage)


def _next_step(request: ModelRequest) -> Step:
    """The first scene of the round that is not over and has tools on offer; the summary after the last."""
    offered = {tool.name for tool in request.tools}
    if not offered:
        return WITHOUT_TOOLS
    turn = _this_turn(request.messages)
    seen = Seen(_results(turn), any(_IS_GIT in text for text in request.system))
    failed = apology(_results(turn[-1:]))
    for scene in ROUND:
        if scene.is_over(seen):
            continue
        step = scene.write(seen)
        if calls := [call for call in step.calls if call.name in offered]:
            return Step(failed + step.text, calls, step.thoughts)
    return Step(failed + summary(seen).text)


def _events(step: Step, position: int) -> Iterator[ModelEvent]:
    """The step as a provider would stream it; `position` makes the ids of the calls differ between steps."""
    if step.thoughts:
        yield from (ReasoningDelta(chunk) for chunk in _CHUNK.findall(step.thoughts))
        yield ReasoningEnd()
    yield from (TextDelta(chunk) for chunk in _CHUNK.findall(step.text))
    calls = [
        (f"demo_{position}_{number}", call, json.dumps(dict(call.input)))
        for number, call in enumerate(step.calls)
    ]
    for call_id, call, raw in calls:
        yield ToolInputStart(call_id, call.name)
        for chunk in _CHUNK.findall(raw):
            yield ToolInputDelta(call_id, chunk)
    for call_id, call, raw in calls:
        yield ToolCall(call_id, call.name, call.input, raw)


def _this_turn(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[last + 1 :]


def _results(messages: Sequence[ChatMessage]) -> list[ToolResultContent]:
    return [item for message in messages for item in message.content if isinstance(item, ToolResultContent)]


def _length(message: ChatMessage) -> int:
    texts = (item.text for item in message.content if isinstance(item, TextContent))
    return sum(map(len, texts)) + sum(len(result.output) for result in _results([message]))


# What the demo model says and does: a fixed round of steps, as data for `scripted`.

DEMO_FILE = "OPENCODE_WEB_DEMO.md"

TEXT_FILES = "{README*,*.md,*.txt,*.rst,*.py,*.js,*.ts,*.toml,*.html,*.css,*.go,*.rs,*.c,*.java,*.rb}"

_ROOT_FILE = re.compile(r"^  (\S.*[^/)])$", re.MULTILINE)
_VISITS = re.compile(r"^\d+: (Visits: (\d+))$", re.MULTILINE)
_SHOWN_LINES = 12
_PLAN = (
    "Look around in the project",
    "Read one file",
    f"Propose a small edit ({DEMO_FILE})",
    "Run one harmless command",
)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model: words, then calls; without calls the turn ends."""

    text: str
    calls: Sequence[Call] = ()
    thoughts: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The results of this turn, oldest first, and whether the project is a git repository."""

    results: Sequence[ToolResultContent]
    is_git: bool = False

    def count(self, *names: str) -> int:
        return sum(result.name in names for result in self.results)

    def output(self, *names: str) -> str:
        good = (result for result in self.results if result.name in names and not result.is_error)
        return "\n".join(result.output for result in good)

    def succeeded(self, *names: str) -> bool:
        return any(not result.is_error for result in self.results if result.name in names)

    @property
    def files(self) -> list[str]:
        """Paths of files, those at the project's root first."""
        root = _ROOT_FILE.findall(self.output("list"))
        return list(dict.fromkeys([*root, *self.text_files]))

    @property
    def text_files(self) -> list[str]:
        """What the glob found; its remarks are in parentheses."""
        return [line for line in self.output("glob").splitlines() if line and not line.startswith("(")]


@dataclass(frozen=True, slots=True)
class Scene:
    """A step of the round: taken until one of `tools` was called `times` times."""

    tools: tuple[str, ...]
    write: Callable[[Seen], Step]
    times: int = 1

    def is_over(self, seen: Seen) -> bool:
        return seen.count(*self.tools) >= self.times


def _look(_: Seen) -> Step:
    text = (
        "I am a **scripted demo**: no language model, no network, the same few steps every time. "
        "What you see around me is real: the tools, the questions, the diff and the undo.\n\n"
        "Whatever you write, I answer with this tour. First I look around."
    )
    thoughts = (
        "A model's reasoning appears here. I have none, being a script: my next step is always the same one, "
        "so I begin with the files of the project."
    )
    return Step(text, [Call("list", {}), Call("glob", {"pattern": TEXT_FILES})], thoughts)


def _plan(_: Seen) -> Step:
    return Step(
        "I write down what I am going to do.", [_todos("completed", "in_progress", "pending", "pending")]
    )


def _read(seen: Seen) -> Step:
    paths = [path for path in (_readable(seen), _demo_file(seen)) if path]
    if not paths:
        return Step("There is no text file to read yet.")
    return Step(
        f"Now I read `{paths[0]}`.", [Call("read", {"filePath": path}) for path in dict.fromkeys(paths)]
    )


def _edit(seen: Seen) -> Step:
    visits = _VISITS.search(seen.output("read"))
    if not (_demo_file(seen) and visits):
        text = (
            f"I propose one small file, `{DEMO_FILE}`. You are asked before it is written; it can be undone."
        )
        return Step(text, [Call("write", {"filePath": DEMO_FILE, "content": _demo_content()})])
    change = {"oldString": visits[1], "newString": f"Visits: {int(visits[2]) + 1}"}
    text = f"`{DEMO_FILE}` is there from an earlier visit, so I propose to count this one in it."
    return Step(text, [Call("edit", {"filePath": DEMO_FILE, **change})])


def _run(seen: Seen) -> Step:
    command, description = "ls", "List the files of the project"
    if seen.is_git:
        command, description = "git status --short", "Show what has changed"
    call = Call("bash", {"command": command, "description": description})
    return Step("One harmless command, which only looks. You are asked for it as well.", [call])


def _tick(seen: Seen) -> Step:
    ended = (seen.succeeded(*tools) for tools in (("list", "glob"), ("read",), ("write", "edit"), ("bash",)))
    return Step("That was the round.", [_todos(*("completed" if done else "cancelled" for done in ended))])


ROUND: Sequence[Scene] = (
    Scene(("list", "glob"), _look),
    Scene(("todowrite",), _plan),
    Scene(("read",), _read),
    Scene(("write", "edit"), _edit),
    Scene(("bash",), _run),
    Scene(("todowrite",), _tick, times=2),
)


def apology(results: Sequence[ToolResultContent]) -> str:
    """A word about what was refused or failed just before; empty when all went well."""
    refused = [result for result in results if result.is_error]
    if not refused:
        return ""
    names = " and ".join(f"`{name}`" for name in dict.fromkeys(result.name for result in refused))
    if any("rejected" in result.output for result in refused):
        return f"You said no to {names}, and that is quite all right: nothing was run. The tour goes on.\n\n"
    return f"{names} did not work out here, so the tour goes on without it.\n\n"


WITHOUT_TOOLS = Step(
    "This is the scripted demo. It was given no tools this time, so it has nothing to show: "
    "add a real model to get real answers."
)

_REAL_MODEL = """\
### Add a real model

- **A key in the environment:** set it, for example `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`, and start
  opencode-web again.
- **A model on this machine:** start Ollama, LM Studio, llama.cpp or vLLM; it is found by itself.
- **Any other server:** describe it in `opencode.json`:

```json
{
  "provider": {
    "mine": {
      "npm": "@ai-sdk/openai-compatible",
      "options": { "baseURL": "http://127.0.0.1:8000/v1" },
      "models": { "my-model": {} }
    }
  },
  "model": "mine/my-model"
}
```
"""


def summary(seen: Seen) -> Step:
    """The last answer of the round."""
    rows = "\n".join(
        f"| {what} | {_outcome(seen, tools)} |"
        for what, tools in (
            ("Looked around", ("list", "glob")),
            ("Read a file", ("read",)),
            ("Proposed an edit", ("write", "edit")),
            ("Ran a command", ("bash",)),
        )
    )
    table = f"| Step | Outcome |\n| --- | --- |\n{rows}"
    undo = "The review panel shows the change; *Undo from here* on your message takes it back."
    return Step("\n\n".join(["## What you saw", *_shown(seen), table, undo, _REAL_MODEL.strip()]))


def _shown(seen: Seen) -> list[str]:
    """What the command printed, in a fence longer than any run of backticks in it."""
    lines = seen.output("bash").splitlines()
    if not lines:
        return []
    shown = [*lines[:_SHOWN_LINES], *(["…"] if len(lines) > _SHOWN_LINES else [])]
    fence = "`" * max(3, *(len(run) + 1 for line in shown for run in re.findall("`+", line)), 3)
    return ["The command printed:", "\n".join([f"{fence}text", *shown, fence])]


def _outcome(seen: Seen, tools: tuple[str, ...]) -> str:
    if not seen.count(*tools):
        return "left out"
    return "done" if seen.succeeded(*tools) else "did not happen"


def _todos(*statuses: str) -> Call:
    items = zip(_PLAN, statuses, strict=True)
    return Call("todowrite", {"todos": [{"content": c, "status": s, "priority": "medium"} for c, s in items]})


def _readable(seen: Seen) -> str:
    """A README before all others, the one nearest to the root first; empty when there is no text file."""
    readmes = [path for path in seen.files if path.rpartition("/")[2].upper().startswith("README")]
    others = [path for path in seen.text_files if path != DEMO_FILE]
    return next(iter([*sorted(readmes, key=lambda path: path.count("/")), *others]), "")


def _demo_file(seen: Seen) -> str:
    return DEMO_FILE if DEMO_FILE in seen.files else ""


def _demo_content() -> str:
    return (
        "# A visit of the opencode-web demo\n\n"
        "This file was written by the scripted demo model. It can be deleted.\n\n"
        "Visits: 1\n"
    )
