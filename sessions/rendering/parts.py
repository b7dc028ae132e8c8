"""Parts of messages as HTML; the same element, with the same id, in the page and in a live update."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.endings import call_cut_off, call_error
from sessions.core.store import shells
from sessions.core.store.inbox import STEERED_BY
from sessions.core.store.schedules import NAMED
from sessions.core.text import prose, shown_output, visible
from sessions.rendering.attached import attached
from sessions.rendering.blocks import render_whole
from sessions.rendering.children import errand_html, errand_output
from sessions.rendering.highlight import highlight
from sessions.rendering.html import html
from sessions.rendering.questions import TOOLS as ASKING
from sessions.rendering.questions import answered_html
from sessions.rendering.tools import ANSWER, KINDS, card, todo_items

# Where a conversation was compacted: the marker that a request for it becomes, and the summary below it.


def marker_html(part: Wire, *, oob: bool = False) -> str:
    """A line across the conversation; what is above stays readable."""
    return html(
        "parts/compaction.html", id=part["id"], auto=part.get("auto"), done=part.get("metadata"), oob=oob
    )


def is_cleared(part: Wire) -> bool:
    """Whether the model is no longer sent the output of a tool call."""
    return bool((part["state"].get("time") or {}).get("compacted"))


Wire = Mapping[str, Any]
HIDDEN = {"step-start", "step-finish", "snapshot", "patch"}
LONG_PROMPT = 6000
"""Characters of a user's text shown at once; the rest comes on opening."""
LONG_OUTPUT = 8000
"""Characters of an unfolded output that come with its card."""

_CONTINUED = gettext_noop("Continued automatically")
_STEERED = {
    "plan_exit": gettext_noop("Plan approved: building"),
    "plan_enter": gettext_noop("Planning first"),
}


def shown(part: Wire) -> bool:
    """Whether a part is anything to look at."""
    hidden = part.get("synthetic") and not (_steered_by(part) or _schedule(part) or shells.command_of(part))
    return part["type"] not in HIDDEN and not hidden and not part.get("ignored")


def written(parts: Sequence[Wire]) -> str:
    """What was written in a message, as Markdown; no failed attempts."""
    found = (part["text"].strip() for part in parts if part["type"] == "text" and shown(part))
    return "\n\n".join(found)


def parts_html(parts: Sequence[Wire], role: str, *, root: str = "", base: str = "") -> str:
    """The parts of a message in order; the calls within a batch are inside of its card."""
    calls = {part["callID"] for part in parts if is_batch(part)}
    inner: dict[str, str] = dict.fromkeys(calls, "")
    for part in parts:
        if outer_call(part) in calls:
            inner[outer_call(part)] += part_html(part, role, root=root, base=base)
    top = (part for part in parts if outer_call(part) not in calls)
    return "".join(
        part_html(part, role, root=root, base=base, inner=inner.get(part.get("callID", ""), ""))
        for part in top
    )


def is_batch(part: Wire) -> bool:
    """Whether the call makes calls of its own. A name the model wrote is repaired by case when it runs."""
    return part["type"] == "tool" and str(part["tool"]).lower() == "batch"


def outer_call(part: Wire) -> str:
    """The call that made this one; empty for a call of the model's, or of a command (a message's id)."""
    parent = (part.get("metadata") or {}).get("parent") if part["type"] == "tool" else None
    return parent if isinstance(parent, str) and not parent.startswith("msg_") else ""


def holder(message_id: str, call_id: str) -> str:
    """The id of the element that the calls within a call are in."""
    return f"{message_id}-within-{call_id}"


def part_html(
    part: Wire, role: str, *, root: str = "", base: str = "", oob: bool = False, inner: str = ""
) -> str:
    """One part. `root` is the project's folder, `base` the session's URL; `oob` marks a live update, `inner`
    is what the calls within it look like (empty in a live update: the page keeps what it has)."""
    if not shown(part):
        return ""
    context = {"part": part, "base": base, "oob": oob, "id": part["id"]}
    kind = part["type"]
    if kind == "tool" and part["tool"] in ASKING:
        return answered_html(part, oob=oob)
    if kind == "tool" and part["tool"] == "task":
        return errand_html(part, root=root, base=base, oob=oob)
    if kind == "tool":
        within = holder(part["messageID"], part["callID"]) if is_batch(part) else ""
        inside = mark_safe(inner)  # noqa: S308 (rendered cards)
        context |= _unfolded(part)
        return html("tools/card.html", card=card(part, root), within=within, inner=inside, **context)
    if tool := _steered_by(part):
        return html("parts/steered.html", words=gettext(_STEERED.get(tool, _CONTINUED)), **context)
    if name := _schedule(part):
        words = gettext("Begun by the schedule “%(name)s”") % {"name": visible(name)}
        return html("parts/steered.html", words=words, **context)
    if command := shells.command_of(part):
        return html("parts/shell.html", command=command, **context)
    if kind == "text" and role == "user":
        text = prose(part.get("text", ""))
        return html("parts/prompt.html", text=_beginning(text), whole=len(text), **context)
    if kind in ("text", "reasoning"):
        return streamed_html(part, mark_safe(render_whole(part.get("text", ""))), oob=oob)  # noqa: S308
    if kind == "compaction":
        return marker_html(part, oob=oob)
    if kind == "file":
        file = next(iter(attached(part)), None)
        return html("parts/file.html", image=file is None, file=file, **context)
    return html("parts/other.html", **context)


def _beginning(text: str) -> str:
    """Of a long prompt, to the end of a line or a word; the whole of another."""
    if len(text) <= LONG_PROMPT:
        return text
    beginning = text[:LONG_PROMPT]
    ends = (beginning.rfind(sign) for sign in "\n ")
    return beginning[: next((end for end in ends if end > LONG_PROMPT // 2), LONG_PROMPT)]


def parent_id(part: Wire) -> str:
    """The id of the element that a part is in."""
    outer = outer_call(part)
    return holder(part["messageID"], outer) if outer else f"{part['messageID']}-parts"


def placeholder_html(part: Wire) -> SafeString:
    """What stands for a part until it is swapped in, with the place of the calls within it."""
    within = holder(part["messageID"], part["callID"]) if is_batch(part) else ""
    return html("parts/placeholder.html", id=part["id"], within=within)


def _steered_by(part: Wire) -> str:
    metadata = part.get("metadata") or {}
    return str(metadata.get(STEERED_BY, "")) if part.get("synthetic") else ""


def _schedule(part: Wire) -> str:
    """The name of the one that began a turn, in what the agent was told of that."""
    metadata = part.get("metadata") or {}
    return str(metadata.get(NAMED, "")) if part.get("synthetic") else ""


def streamed_html(part: Wire, closed: str, open: str = "", *, oob: bool = False) -> str:
    """A text or reasoning part around blocks that are rendered already."""
    return html(
        f"parts/{part['type']}.html",
        id=part["id"],
        closed=mark_safe(closed),  # noqa: S308 (rendered Markdown, sanitised)
        open=mark_safe(open),  # noqa: S308
        oob=oob,
        **_thinking(part),
    )


def summary_html(part: Wire) -> str:
    """The line above a reasoning part, when it has ended."""
    return html("parts/reasoning_summary.html", id=part["id"], oob=True, **_thinking(part))


def _thinking(part: Wire) -> dict[str, Any]:
    span = part.get("time") or {}
    ended = span.get("end")
    return {"done": bool(ended), "took": ended - span["start"] if ended else None}


def _unfolded(part: Wire) -> dict[str, Any]:
    """The person's own command shows what came of it: with its card, or right after it where that is long."""
    if not shells.is_own_call(part) or part["state"]["status"] not in ("completed", "error"):
        return {"unfolded": False}
    short = len(str(part["state"].get("output") or "")) <= LONG_OUTPUT
    return {"unfolded": True, "output": output_html(part) if short else ""}


def output_html(part: Wire) -> SafeString:
    """The whole of what a card hides: a tool's input and output, or a long prompt's text."""
    if part["type"] != "tool":
        return html("parts/whole.html", text=prose(part.get("text", "")))
    if part["tool"] == "task":
        return errand_output(part)
    state, metadata = part["state"], part["state"].get("metadata") or {}
    given = json.dumps(state.get("input") or {}, ensure_ascii=False, indent=2)
    # What is said in the form of a prompt is the arguments themselves.
    text = given if part["tool"] == ANSWER else state.get("output") or metadata.get("output") or ""
    diff = metadata.get("diff")
    return html(
        "tools/output.html",
        tool=part["tool"],
        input=visible(given[:20_000]),
        output=shown_output(str(text), limit=512 * 1024),
        diff=mark_safe(highlight(visible(diff), "diff")) if isinstance(diff, str) and diff else "",  # noqa: S308
        error=call_error(state),
        cut_off=gettext(call_cut_off(metadata)),
        command=visible(str((state.get("input") or {}).get("command", ""))) if part["tool"] == "bash" else "",
        cleared=is_cleared(part),
        todos=todo_items(state.get("input") or {}) if part["tool"] == "todowrite" else (),
        known=part["tool"] in KINDS,
    )
