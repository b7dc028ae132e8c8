"""What went wrong in plugins and custom tools, by folder: logged, counted, and named in the page."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from pathlib import Path

from sessions.core import bus

logger = logging.getLogger(__name__)

MAX_KEPT = 50


@dataclass(slots=True)
class Fault:
    """Shaped like a problem of the configuration, and shown beside those. `key` is the hook, empty for the
    module as a whole."""

    file: Path
    key: str
    message: str
    count: int = 1
    line: int | None = None
    level: str = "error"

    def __str__(self) -> str:
        where = f"{self.file}: {self.key}" if self.key else str(self.file)
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{where}: {self.message}{times}"


_lock = threading.Lock()
_faults: dict[Path, dict[tuple[Path, str], Fault]] = {}


def record(
    directory: Path,
    project_id: str,
    file: Path,
    key: str,
    message: str,
    *,
    session_id: str = "",
    error: BaseException | None = None,
    line: int | None = None,
) -> None:
    """The last message of each hook is kept, with how often it failed; the page of the session is told."""
    with _lock:
        known = _faults.setdefault(directory, {})
        fault = known.get((file, key))
        if fault is None and len(known) < MAX_KEPT:
            known[file, key] = fault = Fault(file, key, message, 0)
        if fault is not None:
            fault.message, fault.line, fault.count = message, line, fault.count + 1
    logger.warning("%s: %s: %s", file, key or "not loaded", message, exc_info=error)
    properties = {"sessionID": session_id, "plugin": str(file), "hook": key, "message": message}
    bus.publish(bus.Event("plugin.failed", properties, project_id=project_id, session_id=session_id))


def forget(directory: Path, file: Path) -> None:
    """The file was changed or taken away: what was wrong with it no longer is."""
    with _lock:
        known = _faults.get(directory, {})
        for place in [place for place in known if place[0] == file]:
            del known[place]


def faults(directory: Path) -> list[Fault]:
    with _lock:
        return list(_faults.get(directory, {}).values())
