"""Messages as HTML: a shell with a head, its parts and a foot, each with an id of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from sessions.core.above import agents
from sessions.core.endings import cut_off_words, error_words
from sessions.core.models import Session
from sessions.core.sentences import translate
from sessions.core.store.turns import Deed
from sessions.core.store.waits import Spans, within
from sessions.core.wire.messages import AUTH_FAILED

from .deeds import deeds_html
from .html import html
from .parts import parts_html

Wire = Mapping[str, Any]
Deeds = Mapping[str, Sequence[Deed]]
"""By prompts, as `store.turns.deeds` gives them."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where messages are shown: the session's URL, its project's folder, from where on it is undone, the ids
    of pins by the messages that are pinned, who sent them, by prompts, and whose key paid, by answers, where
    that is known."""

    base: str
    root: str
    session_id: str
    reverted_from: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    senders: Mapping[str, str] = field(default_factory=dict)
    payers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        session: Session,
        pins: Mapping[str, str] | None = None,
        senders: Mapping[str, str] | None = None,
        payers: Mapping[str, str] | None = None,
    ) -> Place:
        return cls(
            base=session.get_absolute_url(),
            root=session.directory,
            session_id=session.id,
            reverted_from=undone_from(session.revert),
            pins=pins or {},
            senders=senders or {},
            payers=payers or {},
        )


def undone_from(revert: Wire | None) -> str:
    """The first message of a session that is undone, by its `revert`; empty for none."""
    return str((revert or {}).get("messageID", ""))


def messages_html(
    entries: Sequence[Wire], place: Place, waited: Spans = (), deeds: Deeds | None = None
) -> SafeString:
    """A run of messages in order, as `store.messages.history` gives them; `waited` is of `store.waits`."""
    done = deeds or {}
    prompts = {entry["info"]["id"]: entry["info"] for entry in entries if entry["info"]["role"] == "user"}
    pieces = [
        message_html(entry, place, prompts.get(entry["info"].get("parentID", "")), waited, done)
        for entry in entries
    ]
    return mark_safe("".join(pieces))  # noqa: S308 (joined from rendered templates)


def message_html(entry: Wire, place: Place, prompt: Wire | None, waited: Spans, deeds: Deeds) -> SafeString:
    """One message with its parts; `prompt` is the user message that an assistant's answers."""
    info = entry["info"]
    parts = parts_html(entry["parts"], info["role"], root=place.root, base=place.base)
    return shell_html(info, place, parts, foot_html(info, place, prompt, waited, deeds))


def shell_html(info: Wire, place: Place, parts: str = "", foot: str = "") -> SafeString:
    return html(
        "conversation/summary.html" if info.get("summary") is True else "conversation/message.html",
        id=info["id"],
        role=info["role"],
        turn=info.get("parentID", ""),
        open=not info["time"].get("completed"),
        parts=mark_safe(parts),  # noqa: S308 (rendered templates)
        foot=mark_safe(foot),  # noqa: S308
        reverted=bool(place.reverted_from) and info["id"] >= place.reverted_from,
    )


def foot_html(
    info: Wire,
    place: Place,
    prompt: Wire | None = None,
    waited: Spans = (),
    deeds: Deeds | None = None,
    *,
    oob: bool = False,
) -> SafeString:
    """Below a message: "Undo from here" for a prompt, and what was done for it (the page keeps what it has
    where `deeds` has none); error, model, time and changed files for an answer."""
    pin = place.pins.get(info["id"], "")
    if info["role"] == "user":
        done = deeds_html(info["id"], (deeds or {}).get(info["id"], ()), waited)
        sender = place.senders.get(info["id"], "")
        return html(
            "conversation/prompt_foot.html",
            info=info,
            place=place,
            pin=pin,
            sender=sender,
            deeds=done,
            oob=oob,
        )
    completed = info["time"].get("completed")
    ended = bool(completed) and info.get("finish") not in ("tool-calls", None)
    error = info.get("error")
    started = (prompt or info)["time"]["created"]
    waiting = within(waited, started, completed) if completed else 0
    diffs = ((prompt or {}).get("summary") or {}).get("diffs") or []
    return html(
        "conversation/answer_foot.html",
        id=info["id"],
        info=info,
        place=place,
        pin=pin,
        payer=place.payers.get(info["id"], ""),
        oob=oob,
        ended=ended,
        took=completed - started - waiting if completed else None,
        waiting=waiting,
        error=error_words(error) if error else None,
        cut_off=translate(cut_off_words(error)) if error else "",
        account=_account(info, place) if error and error.get("name") == AUTH_FAILED else "",
        model=agents().model_name(place.root, info["providerID"], info["modelID"]) if ended else "",
        diffs=diffs if ended or error else [],
        total={key: sum(diff.get(key, 0) for diff in diffs) for key in ("additions", "deletions")},
    )


def _account(info: Wire, place: Place) -> str:
    """The address where the key of the provider is replaced that was to answer."""
    project_id = place.base.split("/")[2]
    return f"{reverse('accounts')}?" + urlencode(
        {"project": project_id, "provider": info.get("providerID", "")}
    )
