"""What the demo model says and does: a fixed round of steps, as data for `scripted`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.llm.types import ToolResultContent

DEMO_FILE = "OPENCODE_WEB_DEMO.md"

_README = re.compile(r"\bREADME(?:\.[A-Za-z]+)?(?=\s|$)")
_TEXT_FILE = re.compile(r"\S+\.(?:md|txt|rst|py|js|ts|toml|html|css|go|rs|c|java|rb)$")
_VISITS = re.compile(r"Visits: (\d+)")
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


@dataclass(frozen=True, slots=True)
class Seen:
    """The results of this turn, oldest first."""

    results: Sequence[ToolResultContent]

    def count(self, *names: str) -> int:
        return sum(result.name in names for result in self.results)

    def output(self, *names: str) -> str:
        return "\n".join(result.output for result in self.results if result.name in names)

    def failed(self, *names: str) -> bool:
        found = [result.is_error for result in self.results if result.name in names]
        return bool(found) and found[-1]


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
        "First I look around."
    )
    return Step(
        text, [Call("list", {}), Call("glob", {"pattern": "*.{md,txt,rst,py,js,ts,toml,html,go,rs}"})]
    )


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
        text = f"I propose one small file, `{DEMO_FILE}`. You are asked before it is written, and can undo it after."
        return Step(text, [Call("write", {"filePath": DEMO_FILE, "content": _demo_content()})])
    change = {"oldString": visits[0], "newString": f"Visits: {int(visits[1]) + 1}"}
    text = f"`{DEMO_FILE}` is there from an earlier visit, so I propose to count this one in it."
    return Step(text, [Call("edit", {"filePath": DEMO_FILE, **change})])


def _run(_: Seen) -> Step:
    call = Call("bash", {"command": "git status --short || ls", "description": "Show what has changed"})
    return Step("One harmless command, to see what has changed.", [call])


def _tick(_: Seen) -> Step:
    return Step("That was the round.", [_todos("completed", "completed", "completed", "completed")])


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
    said = " ".join(refused[-1].output.split())[:200]
    return f"The call of {names} did not happen ({said}). That is fine; I go on without it.\n\n"


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
    return Step(
        f"## Done\n\n| Step | Outcome |\n|---|---|\n{rows}\n\n"
        "Look at the review panel to see the change, and use *Undo from here* on your message to take it back.\n\n"
        "To talk to a real model, set a key before you start, for example\n\n"
        "```bash\nexport ANTHROPIC_API_KEY=...   # or OPENAI_API_KEY, GEMINI_API_KEY, ...\nopencode-web\n```\n\n"
        "or start a local one (Ollama, LM Studio, llama.cpp, vLLM): it is found by itself. "
        "Any other goes under `provider` in `opencode.json`."
    )


def _outcome(seen: Seen, tools: tuple[str, ...]) -> str:
    if not seen.count(*tools):
        return "left out"
    return "did not happen" if seen.failed(*tools) else "done"


def _todos(*statuses: str) -> Call:
    items = zip(_PLAN, statuses, strict=True)
    return Call("todowrite", {"todos": [{"content": c, "status": s, "priority": "medium"} for c, s in items]})


def _readable(seen: Seen) -> str:
    if found := _README.search(seen.output("list", "glob")):
        return found[0]
    lines = (line.strip() for line in seen.output("glob").splitlines())
    return next((line for line in lines if _TEXT_FILE.fullmatch(line) and line != DEMO_FILE), "")


def _demo_file(seen: Seen) -> str:
    return DEMO_FILE if DEMO_FILE in seen.output("list", "glob").split() else ""


def _demo_content() -> str:
    return (
        "# A visit of the opencode-web demo\n\n"
        "This file was written by the scripted demo model. It can be deleted.\n\n"
        "Visits: 1\n"
    )
