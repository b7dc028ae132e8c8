"""What a server may ask of us: an answer of the person, one of the model, and where the project is.

Loaded with the SDK, when a server is first connected. Awaited on the background loop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from mcp import types

from agents.llm.types import ChatMessage, FileContent, TextContent
from agents.servers.mcp.asked import elicitation
from agents.servers.mcp.asked.elicitation import CANCELLED, Answer
from agents.servers.mcp.asked.owner import CallOver, ask, owned
from agents.servers.mcp.asked.sampling import Asked, Refused, sampled
from agents.servers.mcp.texts import clean, content_of, is_for_models
from agents.toolkit.base import ToolContext

if TYPE_CHECKING:
    from agents.servers.mcp.connection import Connection


NOBODY = "There is no call that this belongs to, so nobody can be asked."

logger = logging.getLogger(__name__)


async def elicit(
    connection: Connection, params: types.ElicitRequestParams
) -> types.ElicitResult | types.ErrorData:
    """A question to the person whose call is in flight."""
    name = connection.server.name
    if isinstance(params, types.ElicitRequestURLParams):
        message, url = params.message, params.url
        answer = await _answered(connection, lambda ctx: elicitation.visit(ctx, name, message, url))
    else:
        message, schema = params.message, params.requested_schema
        answer = await _answered(connection, lambda ctx: elicitation.fill_in(ctx, name, message, schema))
    content = dict(answer.content) if answer.content is not None else None
    return types.ElicitResult(action=answer.action, content=content)


async def sample(
    connection: Connection, params: types.CreateMessageRequestParams
) -> types.CreateMessageResult | types.CreateMessageResultWithTools | types.ErrorData:
    """An answer of the session's model. Asked of servers whose configuration has `sampling: true` only."""
    calls = owned(connection.calls)
    if not calls:
        return types.ErrorData(code=types.INVALID_REQUEST, message=NOBODY)
    try:
        request = asked(params)
        said = await ask(calls, lambda ctx: sampled(ctx, connection.server.name, request))
    except (Refused, CallOver) as refusal:
        return types.ErrorData(code=types.INVALID_REQUEST, message=str(refusal) or NOBODY)
    text = types.TextContent(type="text", text=said.text)
    return types.CreateMessageResult(
        role="assistant", content=text, model=said.model, stop_reason=said.reason
    )


async def roots(connection: Connection) -> types.ListRootsResult | types.ErrorData:
    """The project."""
    root = types.Root(uri=connection.root.as_uri(), name=connection.root.name)
    return types.ListRootsResult(roots=[root])


async def _answered(
    connection: Connection, question: Callable[[ToolContext], Coroutine[Any, Any, Answer]]
) -> Answer:
    """What the person says, or `cancel` where nobody can be asked."""
    calls = owned(connection.calls)
    if not calls:
        return CANCELLED
    try:
        return await ask(calls, question)
    except CallOver:
        return CANCELLED
    except Exception:
        logger.exception("a question of the MCP server %s could not be asked", connection.server.name)
        return CANCELLED


# The messages that a server puts to the model, as ours. Loaded with the SDK, whose types they are.


def asked(params: types.CreateMessageRequestParams) -> Asked:
    """Raises Refused for what no model here can be asked."""
    messages = [
        ChatMessage(message.role, [_content(block) for block in _blocks(message.content)])
        for message in params.messages
    ]
    system = clean(params.system_prompt or "")
    texts = [_shown(one) for message in messages for one in message.content]
    shown = "\n\n".join([system, *texts]).strip()
    return Asked(
        system=system,
        messages=messages,
        max_output=params.max_tokens,
        temperature=params.temperature,
        stop=params.stop_sequences or (),
        text=shown,
        size=len(shown),
    )


def _shown(content: Any) -> str:
    return content.text if isinstance(content, TextContent) else f"(A picture, {content.mime})"


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _content(block: Any) -> TextContent | FileContent:
    if isinstance(block, types.TextContent):
        return TextContent(clean(block.text))
    if not isinstance(block, types.ImageContent):
        raise Refused("Only texts and pictures can be put to the model.")
    try:
        content = content_of(block.data, block.mime_type)
    except ValueError as error:
        raise Refused(f"A picture is not taken: {error}.") from error
    if not is_for_models(content.mime):
        raise Refused(f"The model takes no {content.mime}.")
    return FileContent(content.mime, content.url.partition(",")[2])
