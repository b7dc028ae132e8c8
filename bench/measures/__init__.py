"""What is measured, by the names that `--only` takes. A measure answers `{label (unit): value}`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bench.lab import Lab
from bench.measures import (
    context,
    crowd,
    diagnostics,
    drain,
    find,
    history,
    mcp,
    memory,
    page_files,
    page_opening,
    page_review,
    page_streaming,
    page_switching,
    readers,
    review,
    search,
    sessions,
    startup,
    store,
    stream,
    sync,
    tokens,
    tools,
    turn,
)

Measure = Callable[[Lab], Awaitable[dict[str, float]]]

MEASURES: dict[str, Measure] = {
    "startup": startup.measure,
    "memory": memory.measure,
    "sessions": sessions.measure,
    "turn": turn.measure,
    "sync": sync.measure,
    "stream": stream.measure,
    "flood": stream.flood,
    "tokens": tokens.measure,
    "tools": tools.measure,
    "ignored": tools.ignored,
    "sandbox": tools.confined,
    "diagnostics": diagnostics.measure,
    "mcp": mcp.measure,
    "history": history.measure,
    "long": history.long,
    "undo": history.undo,
    "merges": review.merges,
    "review": review.measure,
    "snapshot": store.snapshot,
    "growth": store.growth,
    "crowd": crowd.measure,
    "at-once": crowd.at_once,
    "readers": readers.measure,
    "context": context.measure,
    "find": find.measure,
    "search": search.measure,
    "drain": drain.measure,
    "endurance": drain.endurance,
    "page-open": page_opening.measure,
    "page-stream": page_streaming.measure,
    "page-type": page_streaming.typing,
    "page-stand": page_streaming.standing,
    "page-files": page_files.measure,
    "page-review": page_review.measure,
    "page-switch": page_switching.measure,
}
