"""What a tool call's card says: one row a tool, everything else is shown generically."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.endings import call_cut_off, call_error
from sessions.core.text import last_lines, terminal, visible
from sessions.rendering.attached import Attached, attached, files_of, is_image

# How far a running call is, as its tool says.

MOST_WORDS = 300


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` is per cent, None where it is not known how much there is; `words` say what is done."""

    share: int | None
    words: str


def progress_of(metadata: Mapping[str, Any]) -> Progress | None:
    """Of the metadata `progress`: `done`, and perhaps `total` and `message`."""
    said = metadata.get("progress")
    if not isinstance(said, dict):
        return None
    done, total = _number(said.get("done")), _number(said.get("total"))
    message = visible(str(said.get("message") or ""))[:MOST_WORDS]
    if done is None:
        return Progress(None, message)
    if not total or total < 0:
        return Progress(None, message or f"{done:g}")
    share = round(100 * min(max(done / total, 0), 1))
    told = gettext("%(done)s of %(total)s") % {"done": f"{done:g}", "total": f"{total:g}"}
    return Progress(share, f"{message} ({told})" if message else told)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


Input = Mapping[str, Any]
LIVE_LINES = 8
ANSWER = "StructuredOutput"
"""The tool by which a model answers in the form that a prompt asks for."""
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a tool is named and drawn, and which of its input is its subtitle."""

    label: str
    icon: str
    subtitle: Callable[[Input, str], str]


@dataclass(frozen=True, slots=True)
class Card:
    """What `templates/tools/card.html` shows. `took` is milliseconds; counts are None without a diff."""

    id: str
    call_id: str
    tool: str
    label: str
    icon: str
    status: str
    subtitle: str
    live: str = ""
    error: str = ""
    cut_off: str = ""
    """What a call was cut off by, which is no failure of it."""
    started: int | None = None
    took: int | None = None
    additions: int | None = None
    deletions: int | None = None
    path: str = ""
    note: str = ""
    images: tuple[Mapping[str, Any], ...] = ()
    files: tuple[Attached, ...] = ()
    """What else is attached."""
    progress: Progress | None = None
    confined: bool = False
    """Whether it ran in the sandbox."""
    reviewed: str = ""
    """Why the reviewer allowed it, where no person did."""
    app: bool = False
    """Whether its tool has an app."""

    @property
    def stays(self) -> bool:
        """Whether it is in sight also where calls are folded: it failed, or it made something to look at."""
        failed = self.tool in ("bash", "batch") and self.note
        return bool(self.error or self.cut_off or failed or self.images or self.files or self.app)


def relative(path: str, root: str) -> str:
    """A path as seen from the project; unchanged outside of it."""
    try:
        return str(PurePosixPath(path).relative_to(root)) if root else path
    except ValueError:
        return path


def _path(data: Input, root: str) -> str:
    return relative(str(data.get("filePath") or data.get("path") or ""), root)


def _pattern(data: Input, root: str) -> str:
    where = _path(data, root)
    pattern = str(data.get("pattern", ""))
    if not where or where == ".":
        return pattern
    return gettext("%(pattern)s  in %(place)s") % {"pattern": pattern, "place": where}


def _code(data: Input, root: str) -> str:
    """What a language server is asked, and where."""
    operation = str(data.get("operation", ""))
    if operation == "workspaceSymbol":
        return f"{operation}  {data.get('query', '')}"
    line = f":{data['line']}" if operation != "documentSymbol" and "line" in data else ""
    return f"{operation}  {_path(data, root)}{line}"


def _named(key: str) -> Callable[[Input, str], str]:
    return lambda data, root: str(data.get(key, ""))


def _todo_progress(data: Input, root: str) -> str:
    todos = data.get("todos")
    if not isinstance(todos, list):
        return ""
    done = sum(isinstance(todo, dict) and todo.get("status") == "completed" for todo in todos)
    return gettext("%(done)s of %(total)s done") % {"done": done, "total": len(todos)}


def _patched(data: Input, root: str) -> str:
    """The files that a patch names."""
    return ", ".join(relative(path, root) for path in patched(str(data.get("patchText", ""))))


def patched(patch: str) -> list[str]:
    """The files that a patch names, as it names them."""
    return [path.strip() for path in _PATCHED.findall(patch)]


def _calls(data: Input, root: str) -> str:
    calls = data.get("tool_calls")
    count = len(calls) if isinstance(calls, list) else 0
    return ngettext("%(count)s call", "%(count)s calls", count) % {"count": count} if count else ""


def _question(data: Input, root: str) -> str:
    questions = data.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    return str(first.get("question", "")) if isinstance(first, dict) else ""


def _nothing(data: Input, root: str) -> str:
    return ""


def _asked(data: Input, root: str) -> str:
    """What a provider has looked for, or where it has looked."""
    queries = data.get("queries")
    several = ", ".join(map(str, queries)) if isinstance(queries, list) else ""
    return several or str(data.get("query") or data.get("url") or "")


def _run(data: Input, root: str) -> str:
    """The first line of code that a provider has run."""
    return str(data.get("code") or data.get("command") or "").strip().partition("\n")[0]


def _anything(data: Input, root: str) -> str:
    """One text as it stands, all else as JSON."""
    match list(data.values()):
        case []:
            return ""
        case [str(text)]:
            return text.strip().partition("\n")[0][:200]
    return json.dumps(data, ensure_ascii=False)[:200]


KINDS: dict[str, Kind] = {
    "read": Kind(gettext_noop("Read"), "file", _path),
    "write": Kind(gettext_noop("Write"), "edit", _path),
    "edit": Kind(gettext_noop("Edit"), "edit", _path),
    "multiedit": Kind(gettext_noop("Edit"), "edit", _path),
    "apply_patch": Kind(gettext_noop("Patch"), "edit", _patched),
    "batch": Kind(gettext_noop("Batch"), "list", _calls),
    "bash": Kind(gettext_noop("Shell"), "terminal", _named("command")),
    "glob": Kind(gettext_noop("Find"), "search", _pattern),
    "grep": Kind(gettext_noop("Search"), "search", _pattern),
    "list": Kind(gettext_noop("List"), "folder", _path),
    "todowrite": Kind(gettext_noop("Todos"), "list", _todo_progress),
    "todoread": Kind(gettext_noop("Todos"), "list", _nothing),
    "lsp": Kind(gettext_noop("Code"), "search", _code),
    "webfetch": Kind(gettext_noop("Fetch"), "globe", _named("url")),
    "browser": Kind(gettext_noop("Browser"), "globe", _nothing),
    "websearch": Kind(gettext_noop("Search the web"), "globe", _named("query")),
    "codesearch": Kind(gettext_noop("Search for code"), "globe", _named("query")),
    "question": Kind(gettext_noop("Question"), "ask", _question),
    "plan_enter": Kind(gettext_noop("Enter plan mode"), "list", _nothing),
    "plan_exit": Kind(gettext_noop("End plan mode"), "list", _nothing),
    "task": Kind(gettext_noop("Task"), "spark", _named("description")),
    "skill": Kind(gettext_noop("Skill"), "spark", _named("name")),
    ANSWER: Kind(gettext_noop("Answer as data"), "list", _anything),
    "invalid": Kind(gettext_noop("Unknown tool"), "alert", _named("tool")),
}

HOSTED: dict[str, Kind] = {
    "web_search": Kind(gettext_noop("Search the web"), "globe", _asked),
    "web_fetch": Kind(gettext_noop("Fetch"), "globe", _named("url")),
    "file_search": Kind(gettext_noop("Search files"), "search", _asked),
    "code_interpreter": Kind(gettext_noop("Run code"), "terminal", _run),
    "code_execution": Kind(gettext_noop("Run code"), "terminal", _run),
    "bash_code_execution": Kind(gettext_noop("Run code"), "terminal", _run),
    "image_generation": Kind(gettext_noop("Picture"), "image", _named("prompt")),
    "mcp_list_tools": Kind(gettext_noop("List tools"), "list", _named("server")),
}
"""What providers run themselves, by their names for it."""


def card(part: Mapping[str, Any], root: str = "") -> Card:
    """The card of a tool part as it is on the wire; `root` is the project's folder."""
    state = part["state"]
    data = state.get("input") if isinstance(state.get("input"), dict) else {}
    metadata = state.get("metadata") or {}
    is_hosted = bool((part.get("metadata") or {}).get("providerExecuted"))
    kind = (HOSTED if is_hosted else KINDS).get(part["tool"]) or Kind(part["tool"], "tool", _anything)
    span = state.get("time") or {}
    changed = _counts(metadata)
    running = state["status"] == "running"
    return Card(
        id=part["id"],
        call_id=part.get("callID", ""),
        tool=part["tool"],
        label=gettext(kind.label),
        icon=kind.icon,
        status=state["status"],
        subtitle=visible((kind.subtitle(data, root) or str(state.get("title") or ""))[:400]),
        live=last_lines(terminal(str(metadata.get("output", ""))[-16_384:]), LIVE_LINES) if running else "",
        error=call_error(state)[:4000],
        cut_off=gettext(call_cut_off(metadata)),
        started=span.get("start") if running else None,
        took=span["end"] - span["start"] if span.get("end") else None,
        additions=changed[0] if changed else None,
        deletions=changed[1] if changed else None,
        path=_path(data, root) if kind.subtitle is _path else "",
        note=_note(part["tool"], metadata) or (gettext("run by the provider") if is_hosted else ""),
        images=tuple(
            {**file, "number": number} for number, file in enumerate(files_of(part)) if is_image(file)
        ),
        files=attached(part),
        progress=progress_of(metadata) if running else None,
        confined=bool(metadata.get("sandbox")),
        reviewed=visible(str(metadata.get("reviewed", ""))[:400]),
        app=isinstance(metadata.get("app"), dict) and state["status"] == "completed",
    )


def todo_items(data: Input) -> tuple[Mapping[str, Any], ...]:
    """The todos of a `todowrite` call, whatever the model made of them."""
    todos = data.get("todos")
    return tuple(todo for todo in todos if isinstance(todo, dict)) if isinstance(todos, list) else ()


def _counts(metadata: Mapping[str, Any]) -> tuple[int, int] | None:
    diff = metadata.get("filediff")
    if not isinstance(diff, dict):
        return None
    return int(diff.get("additions") or 0), int(diff.get("deletions") or 0)


_LIMITS = {
    "timeout": gettext_noop("ended at its time limit"),
    "memory": gettext_noop("ended at the memory limit"),
    "processor": gettext_noop("ended at the limit of processor time"),
}


def _note(tool: str, metadata: Mapping[str, Any]) -> str:
    """A word on the outcome beside the title: an exit code, a number of matches."""
    if tool == "bash" and metadata.get("limit") in _LIMITS:
        return gettext(_LIMITS[metadata["limit"]])
    if tool == "bash" and metadata.get("exit"):
        return gettext("exit %(code)s") % {"code": metadata["exit"]}
    if tool == "batch" and metadata.get("failed"):
        return gettext("%(count)s failed") % {"count": metadata["failed"]}
    count = metadata.get("matches", metadata.get("count"))
    if tool in ("grep", "glob", "list", "lsp") and isinstance(count, int):
        return gettext("%(count)s found") % {"count": count}
    if errors := metadata.get("errors", 0) if tool == "browser" else _errors(metadata):
        return ngettext("%(count)s error", "%(count)s errors", errors) % {"count": errors}
    return ""


def _errors(metadata: Mapping[str, Any]) -> int:
    """The errors that language servers found after an edit."""
    files = metadata.get("diagnostics")
    found = files.values() if isinstance(files, dict) else ()
    listed = (item for items in found if isinstance(items, list) for item in items)
    return sum(isinstance(item, dict) and item.get("severity") == 1 for item in listed)
