"""The `output` of each hook: what a plugin may change, and what is refused when it does not fit.

Names and keys are OpenCode's. The keys of each `input` are in docs/plugins.md.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

_STRICT = ConfigDict(extra="forbid", strict=True)
_OPEN = ConfigDict(extra="allow", strict=True)


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL cannot be in a variable")
    return text


def _variable(name: str) -> str:
    if not name or "=" in name:
        raise ValueError("this is no name of a variable")
    return _no_nul(name)


def _header(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError("a header has one line of ASCII")
    return text


Header = Annotated[str, AfterValidator(_header)]


@with_config(_STRICT)
class ChatMessage(TypedDict):
    """`chat.message`: the parts of a prompt as the API has them (`{"type": "text", "text": …}` and files)."""

    parts: list[dict[str, Any]]


@with_config(_STRICT)
class ChatParams(TypedDict):
    """`chat.params`: None leaves the choice to the provider. `options` are read as in the configuration."""

    temperature: float | None
    topP: float | None
    topK: int | None
    maxOutputTokens: Annotated[int, Field(gt=0)] | None
    options: dict[str, Any]


@with_config(_STRICT)
class ChatHeaders(TypedDict):
    """`chat.headers`: HTTP headers of the request to the provider."""

    headers: dict[Header, Header]


@with_config(_STRICT)
class SystemTransform(TypedDict):
    """`experimental.chat.system.transform`: the stable text first. Texts after the second join the second."""

    system: Annotated[list[str], Field(min_length=1)]


@with_config(_STRICT)
class ToolShown(TypedDict):
    """`tool.definition`: how the model is shown a tool."""

    description: str
    parameters: dict[str, Any]


@with_config(_STRICT)
class ToolBefore(TypedDict):
    """`tool.execute.before`: the arguments of a call, before they are checked."""

    args: dict[str, Any]


@with_config(_STRICT)
class ToolAfter(TypedDict):
    """`tool.execute.after`: what is kept of a call that succeeded, before it is bounded."""

    title: str
    output: str
    metadata: dict[str, Any]


@with_config(_STRICT)
class ShellEnv(TypedDict):
    """`shell.env`: variables besides those of the server."""

    env: dict[Annotated[str, AfterValidator(_variable)], Annotated[str, AfterValidator(_no_nul)]]


@with_config(_STRICT)
class PermissionAsk(TypedDict):
    """`permission.ask`: what is done about a request that would be asked."""

    status: Literal["ask", "allow", "deny"]


@with_config(_STRICT)
class Compacting(TypedDict):
    """`experimental.session.compacting`: more for the compaction to know, or a prompt in place of ours."""

    context: list[str]
    prompt: str | None


@with_config(_STRICT)
class CommandBefore(TypedDict):
    """`command.execute.before`: what a command becomes, its text first; the files that it names follow."""

    parts: list[dict[str, Any]]


@with_config(_STRICT)
class TextComplete(TypedDict):
    """`experimental.text.complete`: a text of the answer, once it is whole."""

    text: str


# What a request is made of, of a message and its parts; what else they have is left as it is.


class _Part(TypedDict):
    type: str
    metadata: NotRequired[dict[str, Any] | None]


@with_config(_OPEN)
class _Text(_Part):
    text: str


@with_config(_OPEN)
class _File(_Part):
    mime: str
    url: str


@with_config(_OPEN)
class _State(TypedDict):
    status: str
    input: NotRequired[dict[str, Any]]
    error: NotRequired[str]


@with_config(_OPEN)
class _Attachment(TypedDict):
    mime: str
    url: str


@with_config(_OPEN)
class _Completed(_State):
    output: str
    time: dict[str, Any]
    attachments: NotRequired[list[_Attachment] | None]


@with_config(_OPEN)
class _Tool(_Part):
    callID: str
    tool: str
    state: _State


_PARTS: dict[str, TypeAdapter[Any]] = {
    "text": TypeAdapter(_Text),
    "reasoning": TypeAdapter(_Text),
    "file": TypeAdapter(_File),
    "tool": TypeAdapter(_Tool),
}
_COMPLETED = TypeAdapter(_Completed)


def _part(part: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(part.get("type"), str):
        raise ValueError("a part has a type")
    if part["type"] in _PARTS:
        _PARTS[part["type"]].validate_python(part)
    if part["type"] == "tool" and part["state"]["status"] == "completed":
        _COMPLETED.validate_python(part["state"])
    return part


@with_config(_OPEN)
class _Info(TypedDict):
    id: str
    role: Literal["user", "assistant"]
    error: NotRequired[dict[str, Any] | None]


def _info(info: _Info) -> _Info:
    if info["role"] == "assistant" and not all(isinstance(info.get(key), str) for key in _MODEL):
        raise ValueError(f"an answer has {' and '.join(_MODEL)}")
    return info


_MODEL = ("providerID", "modelID")


@with_config(_OPEN)
class Message(TypedDict):
    """A prompt or an answer as the API has it."""

    info: Annotated[_Info, AfterValidator(_info)]
    parts: list[Annotated[dict[str, Any], AfterValidator(_part)]]


@with_config(_STRICT)
class MessagesTransform(TypedDict):
    """`experimental.chat.messages.transform`: the conversation as it is sent, the oldest message first."""

    messages: Annotated[list[Message], Field(min_length=1)]


@with_config(_STRICT)
class AutoContinue(TypedDict):
    """`experimental.compaction.autocontinue`: whether the agent goes on by itself."""

    enabled: bool


@with_config(_OPEN)
class ModelName(TypedDict):
    id: str
    providerID: str


@with_config(_STRICT)
class SmallModel(TypedDict):
    """`experimental.provider.small_model`: the model for titles; None leaves it as it is."""

    model: ModelName | None


OUTPUTS: dict[str, TypeAdapter[Any]] = {
    "chat.message": TypeAdapter(ChatMessage),
    "chat.params": TypeAdapter(ChatParams),
    "chat.headers": TypeAdapter(ChatHeaders),
    "experimental.chat.messages.transform": TypeAdapter(MessagesTransform),
    "experimental.chat.system.transform": TypeAdapter(SystemTransform),
    "tool.definition": TypeAdapter(ToolShown),
    "tool.execute.before": TypeAdapter(ToolBefore),
    "tool.execute.after": TypeAdapter(ToolAfter),
    "shell.env": TypeAdapter(ShellEnv),
    "permission.ask": TypeAdapter(PermissionAsk),
    "experimental.session.compacting": TypeAdapter(Compacting),
    "experimental.compaction.autocontinue": TypeAdapter(AutoContinue),
    "experimental.provider.small_model": TypeAdapter(SmallModel),
    "command.execute.before": TypeAdapter(CommandBefore),
    "experimental.text.complete": TypeAdapter(TextComplete),
}

TELLING = frozenset({"event", "config"})
"""Hooks that are only told something, or change that."""

HOOKS = frozenset({*OUTPUTS, *TELLING})


def checked(hook: str, output: Any) -> dict[str, Any]:
    """The output of a hook if it fits, as plain JSON values. Raises ValueError that says what does not."""
    found: dict[str, Any] = OUTPUTS[hook].validate_python(output)
    json.dumps(found, allow_nan=False)
    return found
