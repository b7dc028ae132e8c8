"""Reader of every other provider, through litellm (docs/decisions/0005-direct-readers.md)."""

from __future__ import annotations

import ast
import asyncio
import logging
import os
import re
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from agents.llm import errors, tls
from agents.llm.readers import openai_body, routed
from agents.llm.readers.decoding import decoding
from agents.llm.readers.openai_chat import ChatDecoder, tagged
from agents.llm.readers.transport import session_headers
from agents.llm.types import ContextOverflow, Model, ModelError, ModelEvent, ModelRequest, ReasoningEnd
from sessions.core.heap import permanent

_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
"""Without these litellm asks the network for its tables and reads `.env` of any folder above."""


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Stream one answer; see `agents.llm.stream`."""
    litellm = await asyncio.to_thread(_library)
    decoder = SealedDecoder(errors.secrets_of(request.model), tagged=tagged(request))
    chunks: Any = None
    route = routed.Route(request.model.fetch)
    with decoding(request.model, decoder):
        try:
            async with asyncio.timeout(request.model.timeout):
                with route.in_force():
                    chunks = await litellm.acompletion(**_arguments(request))
            while chunk := await _next(chunks, request.model, route):
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
    handler: Any = import_module("litellm.llms.custom_httpx.http_handler")
    routed.install(import_module(routed.TRANSPORT).LiteLLMAiohttpTransport)
    handler._create_ssl_context = lambda **_: tls.context()  # its own trusts one file alone
    library.disable_streaming_logging = True
    # It ends a stream after 100 equal chunks, which a list of numbers or a ruled line may well have.
    library.REPEATED_STREAMING_CHUNK_LIMIT = sys.maxsize
    return library


def _arguments(request: ModelRequest) -> dict[str, Any]:
    model, settings = request.model, request.settings
    body = openai_body.with_fields(openai_body.basis(request), _encoded(model, settings.options))
    if budget := _budget(body.get("thinking")):  # the limit covers thinking too, where a Claude is behind
        body["max_tokens"] = min(body.get("max_tokens", 0) + budget, max(model.output, budget + 1))
    return openai_body.with_fields(body, settings.body) | {
        "messages": openai_body.messages(request, sealed=True),
        # An Azure deployment has a name of its own, by which litellm cannot know what its model takes.
        "allowed_openai_params": ["reasoning_effort"] if model.maker == "azure" and model.reasoning else None,
        "api_base": model.base_url or None,
        "api_key": model.api_key or ("none" if model.fetch else None),
        "extra_headers": {**session_headers(request), **model.headers} or None,
        "timeout": model.timeout,
        "max_retries": 0,
        "num_retries": 0,
    }


def _encoded(model: Model, options: Mapping[str, Any]) -> dict[str, Any]:
    """Model Request Options in the forms that litellm translates for each provider: `reasoning_effort` and
    `thinking`; for a Gemini its own `thinkingConfig`, which would hide its thoughts unless it says so."""
    encoded = openai_body.encoded(options)
    if effort := options.get("effort"):
        encoded.setdefault("reasoning_effort", effort)
    config = options.get("thinking_config")
    if "gemini" in model.api_model:
        if config or (model.reasoning and not encoded.keys() & {"reasoning_effort", "thinking"}):
            named = {_camel(name): value for name, value in (config or {}).items()}
            encoded["thinkingConfig"] = {"includeThoughts": True, **named}
            encoded["reasoning_effort"] = encoded["thinking"] = None
        return encoded
    if level := (config or {}).get("thinking_level"):
        encoded.setdefault("reasoning_effort", level)
    if budget := (config or {}).get("thinking_budget"):
        encoded.setdefault("thinking", {"type": "enabled", "budget_tokens": budget})
    return encoded


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _budget(thinking: Any) -> int:
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    return budget if isinstance(budget, int) else 0


async def _next(chunks: Any, model: Model, route: routed.Route) -> Mapping[str, Any] | None:
    """The next chunk, None at the end. Some providers are asked with the first."""
    async with asyncio.timeout(model.chunk_timeout):
        with route.in_force():
            chunk = await anext(chunks, None)
    if route.missed:
        raise ModelError(
            f"{model.provider_id} was not asked by the fetch of its plugin, which does not work here."
        )
    return None if chunk is None else chunk.model_dump(exclude_none=True, warnings=False)


class SealedDecoder(ChatDecoder):
    """Chat-completion chunks with what litellm adds: `thinking_blocks` beside the reasoning's text, a
    signature in the id of a call as well as beside it, and what a Gemini searched for and found."""

    __slots__ = ()

    def finish(self) -> Iterator[ModelEvent]:
        """litellm ends every stream in order, also an empty one: such an answer counts as none."""
        self.done = True
        if not self._spoke and not self.usage.output + self.usage.reasoning:
            self._finish = ""
        yield from super().finish()

    def _chunk(self, chunk: Mapping[str, Any]) -> Iterator[ModelEvent]:
        for ground in chunk.get("vertex_ai_grounding_metadata") or ():
            self._queries += ground.get("webSearchQueries") or ()
            self._sources += ground.get("groundingChunks") or ()
        yield from super()._chunk(chunk)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[ModelEvent]:
        for call in delta.get("tool_calls") or ():
            call["id"] = (call.get("id") or "").partition(_SIGNED)[0]
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


_SIGNED = "__thought__"
"""litellm writes a signature behind this into a call's id, which other providers would find too long."""

# litellm's exceptions as ModelError, ContextOverflow or AuthFailed.

_PREFIX = re.compile(r"^(?:(?:litellm\.)?[A-Za-z]*(?:Error|Exception|Timeout)(?:: | - |$))+")
_BODY = re.compile(r"""^b(?P<quote>['"]).*(?P=quote)""", re.DOTALL)


def from_exception(error: Exception, model: Model) -> ModelError:
    """What any exception out of litellm means: it wraps whatever its many providers raise."""
    inner = getattr(error, "original_exception", None) or error
    kind, secrets = type(inner).__name__, errors.secrets_of(model)
    if kind == "Timeout":
        return ModelError(f"{model.provider_id} did not answer within {model.timeout:g} s.", retryable=True)
    text = _PREFIX.sub("", str(getattr(inner, "message", inner)).strip())
    status, headers = getattr(inner, "status_code", None), _headers(inner)
    body = _bytes_literal(text)
    if body:
        found = errors.from_response(status or 500, headers, body, secrets=secrets)
    else:
        found = errors.from_text(text.partition("\n")[0] or kind, status, headers, secrets=secrets)
    if kind == "ContextWindowExceededError" and not isinstance(found, ContextOverflow):
        return ContextOverflow(found.message, status=status, headers=headers, body=found.body)
    if kind == "APIConnectionError":
        # The figure litellm gives here, 500, is its own.
        found.status = None
    return found


def _headers(error: Exception) -> Mapping[str, str]:
    response: Any = getattr(error, "response", None)
    return getattr(error, "litellm_response_headers", None) or getattr(response, "headers", None) or {}


def _bytes_literal(text: str) -> str:
    """The provider's body, which litellm often shows as Python writes bytes."""
    found = _BODY.match(text)
    if found is None:
        return ""
    try:
        literal = ast.literal_eval(found[0])
    except (ValueError, SyntaxError):
        return ""
    return literal.decode("utf-8", "replace") if isinstance(literal, bytes) else ""
