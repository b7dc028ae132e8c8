"""Reader of every other provider, through litellm (docs/decisions/0005-direct-readers.md)."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from agents.heap import permanent
from agents.llm import errors
from agents.llm.readers import openai_body
from agents.llm.readers.litellm_errors import from_exception
from agents.llm.readers.openai_chat import ChatDecoder
from agents.llm.types import Model, ModelError, ModelEvent, ModelRequest, ReasoningEnd

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
"""Without these litellm asks the network for its tables and reads `.env` of any folder above."""


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    litellm = await asyncio.to_thread(_library)
    decoder = SealedDecoder(errors.secrets_of(request.model))
    chunks: Any = None
    try:
        async with asyncio.timeout(request.model.timeout):
            chunks = await litellm.acompletion(**_arguments(request))
        while chunk := await _next(chunks, request.model):
            for event in decoder.feed(chunk):
                yield event
            # Chunks that lie in the buffer come without a pause: let others have the loop.
            await asyncio.sleep(0)
        for event in decoder.finish():
            yield event
    except ModelError:
        raise
    except TimeoutError:
        words = f"did not begin to answer within {request.model.timeout:g} s"
        if chunks is not None:
            words = f"sent nothing for {request.model.chunk_timeout:g} s"
        raise ModelError(f"{request.model.provider_id} {words}.", retryable=True) from None
    except Exception as error:
        raise from_exception(error, request.model) from error
    finally:
        if chunks is not None:
            await chunks.aclose()


async def warm() -> None:
    """Load litellm in a thread, so that the first request need not wait for it: seconds of CPU, 190 MB."""
    await asyncio.to_thread(_library)


@cache
def _library() -> Any:
    before = {name: os.environ.get(name) for name in _ENVIRONMENT}
    os.environ.update(_ENVIRONMENT)
    with permanent():
        library: Any = import_module("litellm")
    for name, value in before.items():  # what the agent runs inherits our environment
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    library.suppress_debug_info = True
    library.drop_params = True
    library.disable_streaming_logging = True
    # It ends a stream after 100 equal chunks, which a list of numbers or a ruled line may well have.
    library.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    return library


def _arguments(request: ModelRequest) -> dict[str, Any]:
    model, settings = request.model, request.settings
    body = openai_body.with_fields(openai_body.basis(request), _encoded(settings.options))
    if budget := _budget(body.get("thinking")):  # the limit covers thinking too, where a Claude is behind
        body["max_tokens"] = min(body.get("max_tokens", 0) + budget, max(model.output, budget + 1))
    return openai_body.with_fields(body, settings.body) | {
        "messages": openai_body.messages(request, sealed=True),
        "api_base": model.base_url or None,
        "api_key": model.api_key or None,
        "extra_headers": dict(model.headers) or None,
        "timeout": model.timeout,
        "max_retries": 0,
        "num_retries": 0,
    }


def _encoded(options: Mapping[str, Any]) -> dict[str, Any]:
    """Model Request Options in the two forms that litellm translates for each provider: `reasoning_effort`
    and `thinking`."""
    encoded = openai_body.encoded(options)
    gemini = options.get("thinking_config") or {}
    if effort := options.get("effort") or gemini.get("thinking_level"):
        encoded.setdefault("reasoning_effort", effort)
    if budget := gemini.get("thinking_budget"):
        encoded.setdefault("thinking", {"type": "enabled", "budget_tokens": budget})
    return encoded


def _budget(thinking: Any) -> int:
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return budget if isinstance(budget, int) else 0


async def _next(chunks: Any, model: Model) -> Mapping[str, Any] | None:
    """The next chunk, None at the end."""
    async with asyncio.timeout(model.chunk_timeout):
        chunk = await anext(chunks, None)
    return None if chunk is None else chunk.model_dump(exclude_none=True, warnings=False)


class SealedDecoder(ChatDecoder):
    """Chat-completion chunks with litellm's `thinking_blocks` beside the reasoning's text."""

    __slots__ = ()

    def finish(self) -> Iterator[ModelEvent]:
        """litellm ends every stream in order, also an empty one: such an answer counts as none."""
        self.done = True
        if not self._spoke and not self._usage.output + self._usage.reasoning:
            self._finish = ""
        yield from super().finish()

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        blocks = delta.get("thinking_blocks") or ()
        for block in blocks:
            if sealed := block.get("data"):
                yield from self._end_reasoning()
                yield ReasoningEnd({"redacted": sealed})
        yield from super()._delta(delta)
        for block in blocks:
            if signature := block.get("signature"):
                self._field = ""
                yield ReasoningEnd({"signature": signature})
