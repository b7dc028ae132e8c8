"""Session History for the model: what a compaction replaced is left out (seed 004 §4.3; seed 002)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.compaction.entries import Entry, id_of, is_conversation, last_summary, request_of, role_of

QUESTION = (
    "Our conversation so far no longer fits. Sum it up, so that the work can go on from your summary as if "
    "nothing had been cut off."
)


def project(entries: Sequence[Entry]) -> list[Entry]:
    """The entries a model is sent: the last summary with its question, the end that was kept verbatim, and
    what came after. Without a complete summary everything but attempts at one."""
    at = last_summary(entries)
    if at is None:
        return [entry for entry in entries if is_conversation(entry)]
    summary = entries[at]
    asked = next((entry for entry in entries[:at] if id_of(entry) == summary["info"]["parentID"]), None)
    kept_from = (request_of(asked) or {}).get("tail_start_id") if asked else None
    tail = [entry for entry in entries[:at] if kept_from and id_of(entry) >= kept_from and _is_said(entry)]
    after = [entry for entry in entries[at + 1 :] if is_conversation(entry)]
    return [_question(summary), _answer(summary), *tail, *after]


def _is_said(entry: Entry) -> bool:
    """Updates of the surroundings are folded into the baseline of the epoch that a compaction begins."""
    return is_conversation(entry) and role_of(entry) != "system"


def _question(summary: Entry) -> Entry:
    info = {"id": summary["info"]["parentID"], "role": "user", "time": summary["info"]["time"]}
    return {"info": info, "parts": [{"type": "text", "text": QUESTION}]}


def _answer(summary: Entry) -> Entry:
    return {**summary, "parts": [part for part in summary["parts"] if part["type"] == "text"]}
