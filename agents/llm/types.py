"""The words that cross the model seam: a provider-neutral request in, typed events out.

Nothing here knows a provider.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from agents.llm.names import readable
from agents.llm.settings.domains import Controls, Settings


@dataclass(frozen=True, slots=True)
class TextContent:
    text: str


@dataclass(frozen=True, slots=True)
class FileContent:
    """An image or PDF; `data` is base64 without the `data:` prefix."""

    mime: str
    data: str
    filename: str = ""


@dataclass(frozen=True, slots=True)
class ReasoningContent:
    """Reasoning kept to be sent back. `metadata` is what the provider gave beside it:
    `{"signature": str}` or `{"redacted": str}` for Anthropic, opaque to everybody else."""

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolCallContent:
    call_id: str
    name: str
    input: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What the provider gave beside it and wants back with it, such as the signature of a thought."""


@dataclass(frozen=True, slots=True)
class ToolResultContent:
    call_id: str
    name: str
    output: str
    is_error: bool = False
    attachments: Sequence[FileContent] = ()


@dataclass(frozen=True, slots=True)
class ProviderCallContent:
    """A call that the provider made itself. `items` are what it wants back, as its own protocol has it;
    without any, nothing of it goes back."""

    name: str
    output: str
    items: Sequence[Mapping[str, Any]]


T = TypeVar("T")

Content = (
    TextContent | FileContent | ReasoningContent | ToolCallContent | ToolResultContent | ProviderCallContent
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of the request. Role `tool` holds only ToolResultContent; role `system` is what the model
    is told of its surroundings in the middle of the conversation, as text."""

    role: Literal["user", "assistant", "tool", "system"]
    content: Sequence[Content]
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def once(self, key: Hashable, make: Callable[..., T], *given: Any) -> T:
        """What `make` makes of this message with what else it is `given`, once for each key: a message of
        a history is sent again with every step. Nobody may change it."""
        made: T | None = self._made.get(key)
        if made is None:
            made = self._made[key] = make(self, *given)
        return made


@dataclass(frozen=True, slots=True)
class ToolSpec:
    name: str
    description: str
    parameters: Mapping[str, Any]
    """A JSON schema of type `object`."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens. `long` is that of a request with more than `long.above` tokens in it."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    above: int = 0
    long: Price | None = None


class Account(Protocol):
    """A sign-in at a provider, whose token ends and is renewed."""

    async def authorized(self, request: ModelRequest, refused: str = "") -> ModelRequest:
        """The request with address, token and headers. `refused` is a token that the provider did not take,
        though its time was not over. Raises AuthFailed when signed out, ModelError when it cannot be renewed
        now."""
        ...


class Body(Protocol):
    async def readany(self) -> bytes:
        """What has come; empty at the end."""
        ...


class Response(Protocol):
    """The answer to a request over HTTP, unpacked unless its headers say otherwise."""

    @property
    def status(self) -> int: ...

    @property
    def url(self) -> Any: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def content(self) -> Body: ...

    def close(self) -> None: ...


Fetch = Callable[[str, str, Mapping[str, str], bytes | None], Awaitable[Response]]
"""Sends method, address, headers and body; the answer once its head is there. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model resolved from configuration, environment, discovery and the price table.

    `protocol` chooses the reader: `openai` (chat completions), `responses` (OpenAI's responses), `anthropic`
    (messages), `litellm` (every other provider), `scripted` (the demo model). `context`, `input` and
    `output` are token limits.
    """

    provider_id: str
    model_id: str
    name: str
    protocol: Literal["openai", "responses", "anthropic", "litellm", "scripted"]
    api_model: str
    """The name the provider knows it by (for litellm with its provider prefix)."""
    maker: str = ""
    """Whose dialect of the protocol is spoken there, by the id in `known`; empty where nobody knows."""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    timeout: float = 300.0
    """Seconds until the response must have begun."""
    chunk_timeout: float = 120.0
    """Seconds between two chunks."""
    context: int = 128_000
    input: int = 0
    """Where it is less than the whole window; 0: not known apart."""
    output: int = 8_192
    price: Price = Price()
    tool_call: bool = True
    reasoning: bool = False
    attachment: bool = False
    """Whether images and PDFs may be sent."""
    temperature: bool = True
    """Whether it takes one; what is asked of all models leaves it out of requests to others."""
    settings: Settings = field(default_factory=Settings)
    """What it is asked with unless the request says otherwise."""
    variants: Mapping[str, Settings] = field(default_factory=dict)
    """Settings to choose from by name, such as levels of thinking."""
    interleaved: str = ""
    """The field of a message of chat completions that takes back reasoning of which no field is known."""
    account: Account | None = field(default=None, repr=False)
    """The sign-in that lets requests in, where there is no key."""
    fetch: Fetch | None = field(default=None, repr=False)
    """What sends the requests in place of our own HTTP."""
    paid_by: str = ""
    """Whose key it is asked with, in words; empty for the installation's."""

    @property
    def ref(self) -> str:
        """`provider/model`, as configuration writes it."""
        return f"{self.provider_id}/{self.model_id}"

    @property
    def label(self) -> str:
        """The name for people: the one that was given, else made of the id."""
        return self.name if self.name != self.model_id else readable(self.model_id)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    model: Model
    system: Sequence[str]
    """At most two texts, the stable one first."""
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec] = ()
    controls: Controls = field(default_factory=Controls)
    options: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    subagent: bool = False
    """Whether an agent asks for this and no person."""
    tool_choice: Literal["auto", "required"] = "auto"
    """Whether the model has to call one of the tools."""
    session: str = ""
    """Whose history this is: requests of one session begin alike, and a provider's cache may be told so."""

    @property
    def settings(self) -> Settings:
        """What the model is asked with: its own settings under the request's."""
        asked = self.model.settings.under(Settings(self.controls, self.options, self.body))
        if self.model.temperature:
            return asked
        return replace(asked, controls=replace(asked.controls, temperature=None))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens. `input` excludes what was read from or written to the cache; `output` excludes reasoning."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @classmethod
    def of_sums(
        cls, prompt: int, completion: int, total: int, *, cached: int, written: int = 0, reasoning: int = 0
    ) -> Usage:
        """Of the counts of OpenAI's shape. What concerns the cache is part of `prompt`, and `reasoning` of
        `completion`, unless `total` (0: not told) has them beside, as with some servers. What `total` has
        that none of the others has was reasoning that nobody named."""
        cache, more = cached + written, max(total - prompt - completion, 0)
        cache_beside = cache > prompt or (more > 0 and more in (cache, cache + reasoning))
        if more and not reasoning:
            reasoning = more - cache if cache_beside else more
            reasoning_beside = True
        else:
            reasoning_beside = reasoning > completion or (more > 0 and more in (reasoning, cache + reasoning))
        return cls(
            input=prompt if cache_beside else prompt - cache,
            output=completion if reasoning_beside else completion - reasoning,
            reasoning=reasoning,
            cache_read=cached,
            cache_write=written,
        )

    @property
    def total(self) -> int:
        return self.input + self.output + self.reasoning + self.cache_read + self.cache_write

    def cost(self, price: Price) -> float:
        """US dollars."""
        if price.long and self.input + self.cache_read + self.cache_write > price.long.above:
            price = price.long
        dollars = (
            self.input * price.input
            + (self.output + self.reasoning) * price.output
            + self.cache_read * price.cache_read
            + self.cache_write * price.cache_write
        )
        return dollars / 1_000_000


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningEnd:
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolInputStart:
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A complete call. `input` is None when the arguments were no JSON object; `raw` has them as sent."""

    call_id: str
    name: str
    input: Mapping[str, Any] | None
    raw: str
    cut_at: int | None = None
    """The output tokens at which its arguments were cut, 0 where they were not counted; None: they were
    not."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """See `ToolCallContent`."""


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """A call that the provider made itself and has ended; see `ProviderCallContent`. `error` says why in
    vain."""

    call_id: str
    name: str
    input: Mapping[str, Any]
    output: str
    items: Sequence[Mapping[str, Any]] = ()
    attachments: Sequence[FileContent] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    """The last event of a stream that ended in order."""

    reason: Literal["stop", "tool-calls", "length", "content-filter", "unknown"]
    usage: Usage


ModelEvent = (
    TextDelta
    | ReasoningDelta
    | ReasoningEnd
    | ToolInputStart
    | ToolInputDelta
    | ToolCall
    | ProviderCall
    | Finish
)


class ModelError(Exception):
    """A provider failed. `status` is the HTTP status where there was one; `headers` are lower-cased; `usage`
    is what was counted before."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: str = "",
        retryable: bool = False,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.headers = dict(headers or {})
        self.body = body
        self.retryable = retryable
        self.usage = usage or Usage()


class ContextOverflow(ModelError):
    """The request did not fit the context window; never retried, calls for compaction."""


class AuthFailed(ModelError):
    """The provider refused the key (401, 403) or there is none."""
