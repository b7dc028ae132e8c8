"""An answer, decoded as it comes, and what goes wrong with that."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from typing import Any, Protocol

from agents.llm.readers.transport import drain
from agents.llm.types import Model, ModelError, ModelEvent, Usage

logger = logging.getLogger(__name__)


class Counting(Protocol):
    @property
    def usage(self) -> Usage:
        """What was counted until now."""
        ...


class Decoder(Counting, Protocol):
    """Payloads in, events out; `done` once the answer has come to its end."""

    done: bool

    def feed(self, event: dict[str, Any]) -> Iterator[ModelEvent]: ...

    def finish(self) -> Iterator[ModelEvent]: ...


async def decoded(
    model: Model, decoder: Decoder, payloads: AsyncGenerator[str, None], *, end: str = ""
) -> AsyncGenerator[ModelEvent, None]:
    """The events of an answer, read to its end; `end` is the payload that says so, if there is one. Raises
    ModelError."""
    with decoding(model, decoder):
        async with aclosing(payloads):
            async for payload in payloads:
                if payload == end:
                    decoder.done = True
                    break
                for event in decoder.feed(parse(payload, model)):
                    yield event
                if decoder.done:
                    break
            await drain(payloads)
        for event in decoder.finish():
            yield event


def parse(payload: str, model: Model) -> dict[str, Any]:
    """The JSON object of one event; raises ModelError when it is none."""
    try:
        parsed = json.loads(payload)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ModelError(
            f"{model.ref} sent a line that is no JSON object: {payload[:200]}", body=payload[:2000]
        )
    return parsed


@contextmanager
def decoding(model: Model, decoder: Counting) -> Iterator[None]:
    """Raises ModelError, with what was counted, also for what has a shape that the protocol does not know."""
    try:
        yield
    except ModelError as error:
        error.usage = decoder.usage
        raise
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        logger.exception("%s sent what its protocol does not know", model.ref)
        words = f"{model.ref} sent what its protocol does not know ({type(error).__name__}: {error})."
        raise ModelError(words, usage=decoder.usage) from error
