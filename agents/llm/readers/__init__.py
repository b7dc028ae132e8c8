"""One reader for each protocol; each takes a ModelRequest and is an async generator of ModelEvents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from agents.llm.readers import anthropic_messages, litellm_reader, openai_chat, openai_responses, scripted
from agents.llm.types import Account, AuthFailed, ModelEvent, ModelRequest
from sessions.core import fence
from sessions.core.store.leases import confirmed

Reader = Callable[[ModelRequest], AsyncGenerator[ModelEvent, None]]

READERS: Mapping[str, Reader] = {
    "openai": openai_chat.read,
    "responses": openai_responses.read,
    "anthropic": anthropic_messages.read,
    "litellm": litellm_reader.read,
    "scripted": scripted.read,
}

_UNAUTHORIZED = 401


def stream(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Ask the model; the last event of a stream that ended in order is `Finish`.

    Calls (`ToolCall`) come only once the provider has finished, so a stream that broke never leaves a step
    half run. Raises ModelError, ContextOverflow or AuthFailed while it is read. Cancelling the reading
    task, or closing the generator (`contextlib.aclosing`), closes the connection to the provider at once.
    """
    account = request.model.account
    if not fence.is_fresh():
        return _confirmed(request)
    return READERS[request.model.protocol](request) if account is None else _signed_in(request, account)


async def _confirmed(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Once the lease it is done under stands. Raises LeaseLost."""
    await confirmed()
    async with aclosing(stream(request)) as events:
        async for event in events:
            yield event


async def _signed_in(request: ModelRequest, account: Account) -> AsyncGenerator[ModelEvent, None]:
    """With the account's token. One that is refused before its time is renewed once."""
    refused, begun = "", False
    while True:
        asked = await account.authorized(request, refused)
        try:
            async with aclosing(READERS[asked.model.protocol](asked)) as events:
                async for event in events:
                    begun = True
                    yield event
            return
        except AuthFailed as error:
            if refused or begun or error.status != _UNAUTHORIZED:
                raise
            refused = asked.model.api_key
