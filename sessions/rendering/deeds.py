"""What an agent did in a turn, as one line beside its prompt: the calls are folded to it by a click."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from sessions.core.store.turns import Deed
from sessions.core.store.waits import Spans, merged, within
from sessions.rendering.html import html
from sessions.rendering.questions import TOOLS as ASKING
from sessions.rendering.tools import patched

_SEARCHES = frozenset({"glob", "grep", "list", "lsp", "codesearch"})
_FETCHES = frozenset({"webfetch", "websearch", "browser"})
_EDITS = frozenset({"write", "edit", "multiedit", "apply_patch"})


def deeds_html(prompt_id: str, deeds: Sequence[Deed], waited: Spans = (), *, oob: bool = False) -> SafeString:
    """The line of a turn; an empty place where nothing was done. `waited` is of `store.waits`."""
    return html(
        "conversation/deeds.html", id=prompt_id, words=words(deeds), took=took(deeds, waited), oob=oob
    )


def words(deeds: Sequence[Deed]) -> str:
    """`Read 4 files, edited 2, ran 3 commands`; empty for nothing. What asks a person is shown by itself."""
    calls = [deed for deed in deeds if deed.tool and deed.tool not in ASKING]
    tools = [deed.tool for deed in calls]
    read = len({deed.subject for deed in calls if deed.tool == "read"})
    edited = len({path for deed in calls if deed.tool in _EDITS for path in _paths(deed)})
    counted = _EDITS | _SEARCHES | _FETCHES | {"read", "bash", "task"}
    ran, sent = tools.count("bash"), tools.count("task")
    searched = sum(tool in _SEARCHES for tool in tools)
    fetched = sum(tool in _FETCHES for tool in tools)
    rest = sum(tool not in counted for tool in tools)
    files = ngettext("edited %(count)s file", "edited %(count)s files", edited)
    told = (
        (read, ngettext("read %(count)s file", "read %(count)s files", read)),
        (edited, gettext("edited %(count)s") if read else files),
        (ran, ngettext("ran %(count)s command", "ran %(count)s commands", ran)),
        (searched, ngettext("searched %(count)s time", "searched %(count)s times", searched)),
        (fetched, ngettext("looked up %(count)s page", "looked up %(count)s pages", fetched)),
        (sent, ngettext("sent %(count)s subagent", "sent %(count)s subagents", sent)),
        (rest, ngettext("made %(count)s other call", "made %(count)s other calls", rest)),
        (sum(deed.status == "error" for deed in calls), gettext("%(count)s failed")),
    )
    line = ", ".join(what % {"count": count} for count, what in told if count) or (
        gettext("thought") if len(deeds) > len(calls) else ""
    )
    return line[:1].upper() + line[1:]


def took(deeds: Sequence[Deed], waited: Spans) -> int:
    """Milliseconds of what has ended, at the same time counted once, without waiting for a person."""
    ended = [(deed.start, deed.end) for deed in deeds if deed.start is not None and deed.end is not None]
    return sum(end - start - within(waited, start, end) for start, end in merged(sorted(ended)))


def _paths(deed: Deed) -> Sequence[str]:
    return patched(deed.subject) if deed.tool == "apply_patch" else [deed.subject]
