"""The process that costly work is done in (the other half: `offload.py`).

It reads a task a line, as JSON, and answers in a line. The kernel ends it when a task takes more than its
seconds of the processor (setitimer(2), ITIMER_PROF): inside of a regular expression no code of ours runs. The
end of the input is the end of the process.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import selectors
import signal
import sys
from contextlib import suppress
from typing import Any

from sessions.core.offload import pool

IDLE_SECONDS = 300.0
MOST_MEMORY = 2 * 1024**3
"""Bytes of address space; the system may not hold to it (macOS)."""


def main() -> None:
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    pool.inside = True
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a package prints is no answer
    tasks = sys.stdin.buffer
    with selectors.DefaultSelector() as waiting:
        waiting.register(tasks, selectors.EVENT_READ)
        while waiting.select(IDLE_SECONDS) and (line := tasks.readline()):
            answers.write(json.dumps(_done(json.loads(line))).encode() + b"\n")
            answers.flush()


def _done(task: dict[str, Any]) -> dict[str, Any]:
    module, _, name = task["name"].partition(":")
    function = getattr(importlib.import_module(module), name)
    signal.setitimer(signal.ITIMER_PROF, task["seconds"])
    try:
        return {"value": function(*task["arguments"])}
    except RecursionError:
        return {"failure": "it is nested too deep"}
    except MemoryError:
        return {"failure": "it takes too much memory"}
    except Exception as error:
        return {"failure": f"it cannot be read ({type(error).__name__}: {error})"[:300]}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
