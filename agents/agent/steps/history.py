"""Session History as a provider wants it: rows in, provider-neutral messages out."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from agents.llm.types import (
    ChatMessage,
    Content,
    FileContent,
    Model,
    ProviderCallContent,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
)
from sessions.core.data_url import by_address, content_of
from sessions.core.db import in_db
from sessions.core.store import context, messages
from sessions.core.wire.messages import STOPPED_BY_USER

CLEARED = "[Old tool result content cleared]"

CUT_OFF = """<system-reminder>
The turn was cut off here. {reason} What you wrote until then stands above, and the calls you made with the
results of those that ended. A call of which it is unknown whether it ran may have run wholly, in part or not
at all: look before you repeat it. Now go on with the same request from there. Do not begin anew, and do not
repeat what you wrote.
</system-reminder>"""
ON_AGAIN = "The user stopped it, and now wants it to go on."

SENT = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"})
"""Providers refuse a request with a file of another kind, and every one that follows it."""


def request_messages(
    rows: Sequence[dict[str, Any]], model: Model, *, answered: bool = False
) -> list[ChatMessage]:
    """`[{"info", "parts"}]` as the store gives it; failed attempts and empty messages are left out. After an
    answer that was cut off and then gone on with stands that it was; `answered`: an answer comes next."""
    found: list[ChatMessage] = []
    key = model.provider_id, model.model_id, model.attachment
    for at, row in enumerate(rows):
        said = row.messages(model, key) if isinstance(row, Entry) else _messages(row, model)
        found += said
        error = row["info"].get("error")
        if error and said and row["info"]["role"] == "assistant" and _goes_on(rows[at + 1 :], answered):
            found.append(_cut_off(error))
    return found


def _messages(row: dict[str, Any], model: Model) -> list[ChatMessage]:
    role = row["info"]["role"]
    if role == "assistant":
        return _assistant(row["info"], row["parts"], model)
    content = list(_user(row["parts"], model))
    return [ChatMessage(role, content)] if content else []


def _goes_on(later: Sequence[dict[str, Any]], answered: bool) -> bool:
    """Whether an answer is followed by another one, and not by a prompt."""
    roles = (row["info"]["role"] for row in later)
    role = next((role for role in roles if role != "system"), "")
    return role == "assistant" or (answered and not role)


def _cut_off(error: dict[str, Any]) -> ChatMessage:
    reason = (error.get("data") or {}).get("message") or ""
    reason = ON_AGAIN if reason == STOPPED_BY_USER else reason
    return ChatMessage("user", [TextContent(CUT_OFF.format(reason=reason))])


def _user(parts: Sequence[dict[str, Any]], model: Model) -> Iterator[Content]:
    for part in parts:
        if part["type"] == "text" and not part.get("ignored") and part["text"]:
            yield TextContent(part["text"])
        elif part["type"] == "file" and not _is_read(part):
            yield _file(part, model)


def _is_read(part: dict[str, Any]) -> bool:
    """Whether what is attached stands in a text part, since the prompt was promoted."""
    is_text = part["mime"].startswith("text/") or part["mime"] == "application/x-directory"
    resource = (part.get("source") or {}).get("type") == "resource"
    return by_address(part) and (resource or (part["url"].startswith("file:") and is_text))


def _file(part: dict[str, Any], model: Model) -> Content:
    """An attachment: text is inlined, images and PDFs go as they are where the model takes them."""
    name, mime = part.get("filename") or "attachment", part["mime"]
    if by_address(part):
        return TextContent(f"[The attachment {name} is not available: {part['url'][:200]}]")
    content = content_of(part["url"])
    if content is None:
        return TextContent(f"[The attachment {name} ({mime}) cannot be read.]")
    if mime.startswith("text/"):
        return TextContent(f"Attached file {name}:\n{content.decode('utf-8', 'replace')}")
    if model.attachment and mime in SENT:
        return FileContent(mime, base64.b64encode(content).decode(), name)
    return TextContent(f"[The user attached {name} ({mime}), but this model cannot read such files.]")


def _assistant(info: dict[str, Any], parts: Sequence[dict[str, Any]], model: Model) -> list[ChatMessage]:
    same_model = (info["providerID"], info["modelID"]) == (model.provider_id, model.model_id)
    said: list[Content] = []
    results: list[Content] = []
    for part in parts:
        if part["type"] == "text" and part["text"] and not part.get("ignored"):
            said.append(TextContent(part["text"]))
        elif part["type"] == "reasoning" and same_model:
            metadata = part.get("metadata") or {}
            if not metadata.get("ignored"):
                said.append(ReasoningContent(part["text"], metadata))
        elif part["type"] == "tool" and (part.get("metadata") or {}).get("providerExecuted"):
            said += _by_provider(part, results, same_model, model)
        elif part["type"] == "tool" and not _is_untold(part):
            beside = (part.get("metadata") or {}) if same_model else {}
            said.append(ToolCallContent(part["callID"], part["tool"], part["state"].get("input", {}), beside))
            results.append(_result(part, model))
    if not any(_counts(content) for content in said):
        return []
    return [ChatMessage("assistant", said), *([ChatMessage("tool", results)] if results else [])]


def _is_untold(part: dict[str, Any]) -> bool:
    """A call that another call made, or one that never was whole."""
    metadata = part.get("metadata") or {}
    return bool(metadata.get("parent") or metadata.get("ignored"))


def _counts(content: Content) -> bool:
    """Whether a message may stand with nothing else in it."""
    if isinstance(content, ProviderCallContent):
        return bool(content.items)
    return not isinstance(content, ReasoningContent)


def _by_provider(
    part: dict[str, Any], results: list[Content], same_model: bool, model: Model
) -> Iterator[Content]:
    """To the model that made it as its protocol has it; to another one as a call like any, for its result."""
    output = part["state"].get("output", "")
    if same_model:
        yield ProviderCallContent(part["tool"], output, part["metadata"].get("items") or ())
    elif output:
        yield ToolCallContent(part["callID"], part["tool"], part["state"].get("input", {}))
        results.append(_result(part, model))


def _result(part: dict[str, Any], model: Model) -> ToolResultContent:
    state = part["state"]
    if state["status"] == "completed":
        if state["time"].get("compacted"):
            return ToolResultContent(part["callID"], part["tool"], CLEARED)
        given = state.get("attachments") or []
        files = [_file(file, model) for file in given]
        return ToolResultContent(
            part["callID"],
            part["tool"],
            "\n\n".join([state["output"], *(_unseen(file) for file in given if not _sees(model, file))]),
            attachments=[file for file in files if isinstance(file, FileContent)],
        )
    words = state.get("error", "The call did not end.")
    return ToolResultContent(part["callID"], part["tool"], words, is_error=True)


def _sees(model: Model, file: dict[str, Any]) -> bool:
    """False where another model would be sent the file: what no model takes, the tool's text tells of."""
    return model.attachment or file["mime"] not in SENT


def _unseen(file: dict[str, Any]) -> str:
    what = " ".join(filter(None, (file.get("filename"), f"({file['mime']})")))
    return f"[The tool gave a file {what}, but this model cannot read such files.]"


class Entry(dict[str, Any]):
    """`{"info", "parts"}` as the store gives it; a system message has the role `system`. Nobody changes it,
    so what it is to a model is found out once and not at every step."""

    __slots__ = ("_key", "_said")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._key: object = None
        self._said: list[ChatMessage] = []

    def messages(self, model: Model, key: object) -> list[ChatMessage]:
        """`key` has what of the model they depend on."""
        if self._key != key:
            self._key, self._said = key, _messages(self, model)
        return self._said


class Transcript:
    """What is durable of a session, oldest first. A drain is the only writer of its history, so an entry
    that was complete when it was read does not change; `forget` when something did rewrite the past."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._entries: list[Entry] = []
        self._epoch = ""

    @property
    def entries(self) -> Sequence[Entry]:
        """Those that are known."""
        return self._entries

    async def refresh(self) -> list[Entry]:
        """All entries as of now; from the last open message on they are read again."""
        while self._entries and not _complete(self._entries[-1]):
            self._entries.pop()
        last = self._entries[-1]["info"]["id"] if self._entries else ""
        epoch, newer = await in_db(_newer, self._session_id, last)
        if epoch != self._epoch:  # what was told in earlier epochs has left the model's history
            self._entries = [entry for entry in self._entries if entry["info"]["role"] != "system"]
            self._epoch = epoch
        self._entries += newer
        return self._entries

    def forget(self) -> None:
        self._entries = []


MOST_ENTRIES = 1_000


class Transcripts:
    """Those of sessions whose turns have ended in order, for their next one: the newest, and of the others as
    many as have no more than MOST_ENTRIES together with it. Each holds while nothing else is written into its
    session, which the number of the session's next event tells. Of one event loop."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, Transcript]] = {}

    def take(self, session_id: str, number: int) -> Transcript:
        """What is known, or one that knows nothing yet."""
        kept = self._kept.pop(session_id, None)
        return kept[1] if kept is not None and kept[0] == number else Transcript(session_id)

    def keep(self, session_id: str, number: int, transcript: Transcript) -> None:
        self._kept.pop(session_id, None)
        self._kept[session_id] = number, transcript
        while len(self._kept) > 1 and self._entries() > MOST_ENTRIES:
            del self._kept[next(iter(self._kept))]

    def _entries(self) -> int:
        return sum(len(kept.entries) for _, kept in self._kept.values())


def _newer(session_id: str, last: str) -> tuple[str, list[Entry]]:
    """The epoch, and messages and its system messages after an id, merged by their ids."""
    epoch, told = context.history(session_id, last)
    said = messages.history(session_id, after=last)
    return epoch, sorted(map(Entry, [*said, *told]), key=lambda entry: str(entry["info"]["id"]))


def _complete(entry: Entry) -> bool:
    """A user message may still get its summary, which no model sees; an answer is complete with its time."""
    return bool(entry["info"]["role"] != "assistant" or entry["info"]["time"].get("completed"))
