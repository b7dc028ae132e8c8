"""`python -m tests.runtime.hurried serve …` is the server whose schedules go by a clock that is so many
milliseconds ahead, or behind, as a file says (CLOCK_FILE), which a test may write meanwhile. Where the system
does not tell of changes, it looks for them sooner."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from opencode_web.cli import main, start
from tests.runtime import crashing


async def begin() -> None:
    from agents.agent.schedules import scheduler, triggers
    from sessions.core.store import schedules

    triggers.UNWATCHED_SECONDS = 3 * scheduler.SETTLE  # what changes more often has not come to rest
    file, own = Path(os.environ["CLOCK_FILE"]), schedules.moment
    schedules.moment = lambda: own() + int(file.read_text())
    if "CRASH_AT" in os.environ:
        await crashing.begin()
    else:
        from opencode_web.site import background

        await background.start()


if __name__ == "__main__":
    start.begin = begin
    sys.exit(main())
