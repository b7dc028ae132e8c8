"""Direct reader of the OpenAI chat-completions stream (docs/decisions/0005-direct-readers.md says why)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from agents.llm import errors
from agents.llm.families import OPEN, family
from agents.llm.readers import openai_body, server_tools
from agents.llm.readers.calls import CallAssembler, make_id
from agents.llm.readers.decoding import decoded
from agents.llm.readers.transport import post_events, session_headers
from agents.llm.types import (
    FileContent,
    Finish,
    ModelError,
    ModelEvent,
    ModelRequest,
    ProviderCall,
    ReasoningDelta,
    ReasoningEnd,
    TextDelta,
    Usage,
)

_OPEN, _CLOSE = "<think>", "</think>"


class Tags:
    """Pieces of a text in, text and reasoning out; a tag may come in pieces. Once the answer has begun
    without a tag, or the tag has been closed, all that comes is text."""

    __slots__ = ("_held", "_state")

    def __init__(self, *, on: bool) -> None:
        self._state = "begin" if on else "text"
        self._held = ""

    def feed(self, text: str) -> Iterator[ModelEvent]:
        if self._state == "text":
            yield TextDelta(text)
            return
        self._held += text
        if self._state == "begin":
            begun = self._held.lstrip()
            if begun.startswith(_OPEN):
                self._state, self._held = "opened", begun.removeprefix(_OPEN)
            elif not _OPEN.startswith(begun):
                self._state, held, self._held = "text", self._held, ""
                yield TextDelta(held)
        if self._state == "opened":
            self._held = self._held.lstrip()
            self._state = "inside" if self._held else "opened"
        if self._state == "inside":
            yield from self._inside()
        if self._state == "closed" and (text := self._held.lstrip()):
            self._state, self._held = "text", ""
            yield TextDelta(text)

    def end(self) -> Iterator[ModelEvent]:
        """What is held back, as what it was until now."""
        held, self._held = self._held, ""
        if self._state in ("opened", "inside"):
            if held:
                yield ReasoningDelta(held)
            yield ReasoningEnd()
        elif held and self._state == "begin":
            yield TextDelta(held)
        self._state = "text"

    def _inside(self) -> Iterator[ModelEvent]:
        thought, closed, rest = self._held.partition(_CLOSE)
        if closed:
            self._state, self._held = "closed", rest
            if thought:
                yield ReasoningDelta(thought)
            yield ReasoningEnd()
            return
        kept = next((n for n in range(len(_CLOSE) - 1, 0, -1) if thought.endswith(_CLOSE[:n])), 0)
        self._held = thought[len(thought) - kept :]
        if given := thought[: len(thought) - kept]:
            yield ReasoningDelta(given)


_REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_text")
_DONE = "[DONE]"

logger = logging.getLogger(__name__)


def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    model = request.model
    headers = session_headers(request)
    if model.api_key:
        headers["authorization"] = f"Bearer {model.api_key}"
    body = openai_body.encode(openai_body.build(request))
    decoder = ChatDecoder(errors.secrets_of(model), tagged=tagged(request))
    answer = post_events(model, "/chat/completions", headers | dict(model.headers), body)
    return decoded(model, decoder, answer, end=_DONE)


def tagged(request: ModelRequest) -> bool:
    """Whether the text may begin with thoughts in tags: as the option `thinkTags` says, else by family."""
    told = request.settings.options.get("think_tags")
    return bool(told) if told is not None else family(request.model) in OPEN


class ChatDecoder:
    """Chunks of a chat completion in, typed events out. `tagged`: the text may begin with thoughts in
    tags."""

    __slots__ = (
        "_calls",
        "_details",
        "_field",
        "_finish",
        "_queries",
        "_refused",
        "_secrets",
        "_sources",
        "_spoke",
        "_tags",
        "done",
        "usage",
    )

    def __init__(self, secrets: list[str], *, tagged: bool = False) -> None:
        self.done = False
        self._secrets = secrets
        self._calls = CallAssembler()
        self._details: list[dict[str, Any]] = []
        self._field = ""
        self._finish = ""
        self._queries: list[str] = []
        self._refused = False
        self._sources: list[Any] = []
        self._spoke = False
        self._tags = Tags(on=tagged)
        self.usage = Usage()

    def feed(self, chunk: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """The events of one chunk. Raises ModelError when the chunk reports an error; a chunk of a shape that
        nobody knows is logged and says nothing."""
        if chunk.get("error") or chunk.get("object") == "error":
            raise errors.from_event(chunk.get("error") or chunk, secrets=self._secrets)
        try:
            yield from self._chunk(chunk)
        except (AttributeError, KeyError, TypeError, ValueError):
            logger.warning("a chunk of an unknown shape is skipped: %.500s", chunk, exc_info=True)

    def finish(self) -> Iterator[ModelEvent]:
        """What is due at the end. Raises ModelError when the stream was cut before its end."""
        if not self._finish and not (self.done and self._spoke):
            what = "ended without an answer" if self.done else "was cut before its end"
            raise ModelError(f"The answer {what}.", retryable=True)
        reason = _REASONS.get(self._finish.lower() or "stop", "unknown")
        if reason == "error":
            raise ModelError(f"The provider broke the answer off ({self._finish}).", retryable=True)
        yield from self._tags.end()
        yield from self._end_reasoning()
        if server_tools.links(self._sources):
            asked = list(dict.fromkeys(self._queries))
            yield server_tools.sources(make_id(), self._sources, asked)
        yield from self._calls.finish(cut=self.usage if reason == "length" else None)
        if self._refused:
            reason = _REASONS["refusal"]
        yield Finish("tool-calls" if self._calls else reason, self.usage)

    def _chunk(self, chunk: Mapping[str, Any]) -> Iterator[ModelEvent]:
        # Groq counts in a field of its own.
        if usage := chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage"):
            self.usage = read_usage(usage)
        for field in _SOURCES:
            self._sources += chunk.get(field) or ()
        for choice in chunk.get("choices") or ():
            if delta := choice.get("delta") or choice.get("message"):
                yield from self._delta(delta)
            if reason := choice.get("finish_reason"):
                self._finish = str(reason)
            if usage := choice.get("usage"):
                self.usage = read_usage(usage)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        yield from self._thoughts(delta)
        content = delta.get("content")
        if isinstance(content, list):
            for piece in content:
                yield from self._piece(piece)
        elif content:
            yield from self._text(content)
        if refusal := delta.get("refusal"):
            self._refused = True
            yield from self._text(refusal)
        for image in delta.get("images") or ():
            yield from self._image(image)
        self._sources += delta.get("annotations") or ()
        self._sources += delta.get("citations") or ()
        if calls := delta.get("tool_calls"):
            self._spoke = True
            yield from self._tags.end()
            yield from self._end_reasoning()
            for call in calls:
                yield from self._calls.add(call)

    def _thoughts(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        """Under whichever name the server has them. OpenRouter's details repeat the words, and may be sealed:
        they go back as they came."""
        extra = delta.get("provider_specific_fields") or {}
        details = delta.get("reasoning_details") or extra.get("reasoning_details") or ()
        for detail in details:
            self._add_detail(detail)
        field = next((name for name in _REASONING_FIELDS if delta.get(name)), "")
        text = words_of(delta[field]) if field else "".join(map(words_of, details))
        if text or details:
            self._field = field or self._field or "reasoning"
        if text:
            yield ReasoningDelta(text)

    def _add_detail(self, detail: Mapping[str, Any]) -> None:
        """Pieces of one detail follow one another under its index."""
        last = self._details[-1] if self._details else {}
        same = all(last.get(name) == detail.get(name) for name in ("type", "index")) and last
        if not same or detail.get("type") == "reasoning.encrypted":
            self._details.append(dict(detail))
            return
        for name, value in detail.items():
            joined = name in ("text", "summary") and isinstance(last.get(name), str)
            last[name] = last[name] + value if joined and value else value or last.get(name)

    def _piece(self, piece: Any) -> Iterator[ModelEvent]:
        """A piece of a content that is a list, as Mistral's."""
        match piece:
            case str(text):
                yield from self._text(text)
            case {"type": "thinking" | "reasoning", **rest}:
                self._field = "content"
                if words := words_of(rest.get("thinking") or rest.get("text") or rest):
                    yield ReasoningDelta(words)
            case {"type": "text" | "output_text", "text": str(text)}:
                yield from self._text(text)
            case {"type": "image_url"}:
                yield from self._image(piece)
            case {"type": "reference" | "tool_reference", **rest}:
                self._sources.append(rest)
            case _:
                logger.warning("a piece of an unknown kind is skipped: %.300s", piece)

    def _text(self, text: str) -> Iterator[ModelEvent]:
        if not isinstance(text, str):
            raise TypeError("a text is expected")
        if not text:
            return
        self._spoke = True
        if self._field:
            yield from self._end_reasoning()
        yield from self._tags.feed(text)

    def _image(self, image: Mapping[str, Any]) -> Iterator[ModelEvent]:
        place = image.get("image_url") or image
        head, _, data = (place if isinstance(place, str) else str(place.get("url", ""))).partition(",")
        if data and head.startswith("data:image/"):
            self._spoke = True
            yield from self._end_reasoning()
            mime = head.removeprefix("data:").partition(";")[0]
            yield ProviderCall(make_id(), "image_generation", {}, "", attachments=(FileContent(mime, data),))

    def _end_reasoning(self) -> Iterator[ModelEvent]:
        if self._field:
            details = {"details": self._details} if self._details else {}
            yield ReasoningEnd({"field": self._field, **details})
            self._field, self._details = "", []


def words_of(thought: Any) -> str:
    """The text of a thought or an answer, which some servers put into objects and lists."""
    match thought:
        case str():
            return thought
        case list():
            return "".join(map(words_of, thought))
        case dict():
            return words_of(thought.get("text") or thought.get("summary") or thought.get("content") or "")
    return ""


_SOURCES = ("search_results", "citations")
_REASONS: dict[str, Any] = {
    **dict.fromkeys(("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"), "stop"),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "tool_call"), "tool-calls"),
    **dict.fromkeys(("length", "max_tokens", "model_length", "model_context_window_exceeded"), "length"),
    **dict.fromkeys(("content_filter", "content_filtered", "sensitive", "refusal"), "content-filter"),
    **dict.fromkeys(("safety", "recitation", "blocklist", "prohibited_content", "spii"), "content-filter"),
    # OpenRouter and Mistral; DeepSeek; Z.AI; Gemini.
    **dict.fromkeys(
        ("error", "insufficient_system_resource", "network_error", "malformed_function_call"), "error"
    ),
}


def read_usage(raw: Mapping[str, Any]) -> Usage:
    """Token counts with the cached and the reasoning tokens taken out of the two sums they are part of."""
    read_from = raw.get("prompt_tokens_details") or {}
    spent_on = raw.get("completion_tokens_details") or {}
    # DeepSeek; Moonshot; Anthropic's names by way of others.
    read = (raw.get(name) for name in ("prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"))
    written = (counts.get("cache_creation_input_tokens") for counts in (raw, read_from))
    return Usage.of_sums(
        raw.get("prompt_tokens") or 0,
        raw.get("completion_tokens") or 0,
        raw.get("total_tokens") or 0,
        cached=read_from.get("cached_tokens") or next(filter(None, read), 0),
        written=read_from.get("cache_write_tokens") or next(filter(None, written), 0),
        reasoning=spent_on.get("reasoning_tokens") or 0,
    )
