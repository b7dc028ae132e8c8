"""One reader for each protocol; each takes a ModelRequest and is an async generator of ModelEvents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping

from agents.llm.readers import anthropic_messages, litellm_reader, openai_chat, scripted
from agents.llm.types import ModelEvent, ModelRequest

Reader = Callable[[ModelRequest], AsyncGenerator[ModelEvent, None]]

READERS: Mapping[str, Reader] = {
    "openai": openai_chat.read,
    "anthropic": anthropic_messages.read,
    "litellm": litellm_reader.read,
    "scripted": scripted.read,
}


def stream(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Ask the model; the last event of a stream that ended in order is `Finish`.

    Calls (`ToolCall`) come only once the provider has finished, so a stream that broke never leaves a step
    half run. Raises ModelError, ContextOverflow or AuthFailed while it is read. Cancelling the reading
    task, or closing the generator (`contextlib.aclosing`), closes the connection to the provider at once.
    """
    return READERS[request.model.protocol](request)
