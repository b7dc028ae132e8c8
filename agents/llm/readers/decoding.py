"""What goes wrong while an answer is decoded."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from agents.llm.types import Model, ModelError, Usage

logger = logging.getLogger(__name__)


class Decoder(Protocol):
    @property
    def usage(self) -> Usage:
        """What was counted until now."""
        ...


@contextmanager
def decoding(model: Model, decoder: Decoder) -> Iterator[None]:
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
