"""The model seam: a provider-neutral request goes in, typed events come out.

`stream` is the one way to ask a model. Which reader answers is decided by `request.model.protocol`.
"""

from __future__ import annotations

from agents.llm.readers import stream
from agents.llm.readers.litellm_reader import warm
from agents.llm.readers.transport import aclose

__all__ = ["aclose", "stream", "warm"]
