"""Numbers out of samples."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence


def percentile(samples: Sequence[float], percent: float) -> float:
    """The nearest-rank percentile; ValueError without samples."""
    if not samples:
        raise ValueError("no samples")
    rank = max(1, math.ceil(percent / 100 * len(samples)))
    return sorted(samples)[rank - 1]


def median(samples: Sequence[float]) -> float:
    return statistics.median(samples)
