"""The one import at a time: a lock that all processes see, its progress, and the wish to stop it."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal, Self

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.files import locked, replace_file
from sessions.core.ids import now
from sessions.core.sentences import grouped, packed, unpacked
from sessions.core.store.importing import Outcome
from sessions.transfer.reading.records import Problem


class Busy(Exception):
    """Another import runs."""


class CannotWrite(Exception):
    """The data folder cannot be written; the text says why."""


class Job:
    """Three small files in the data folder. The lock falls when its process ends, however it ends."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(settings.DATA_DIR)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the one import. Raises Busy, CannotWrite."""
        with ExitStack() as lock:
            try:
                lock.enter_context(locked(self._path("lock"), wait=False))
            except BlockingIOError as error:
                raise Busy(gettext("another import runs; wait until it has ended")) from error
            except OSError as error:
                raise CannotWrite(
                    gettext("%(folder)s cannot be written: %(error)s")
                    % {"folder": self._folder, "error": error.strerror or error}
                ) from error
            self._path("cancel").unlink(missing_ok=True)
            yield

    def runs(self) -> bool:
        try:
            with self._path("lock").open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def write(self, progress: Progress) -> None:
        """Whole or not at all. What cannot be written is not shown, and nothing else."""
        with suppress(OSError):
            replace_file(self._path("json"), progress.dumps().encode())

    def progress(self) -> Progress | None:
        """Of the import that runs, or of the last one; None before the first."""
        try:
            return Progress.loads(self._path("json").read_text())
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def forget(self) -> None:
        """Nothing more to say of the last one."""
        self._path("json").unlink(missing_ok=True)

    def cancel(self) -> None:
        self._path("cancel").touch()

    def cancelled(self) -> bool:
        return self._path("cancel").exists()

    def _path(self, kind: str) -> Path:
        return self._folder / f"import.{kind}"


State = Literal["running", "done", "cancelled", "failed"]
KEPT = 200
"""Problems that are kept; all are counted, and told as they come."""


@dataclass(slots=True)
class Progress:
    """`outcomes` counts sessions, `lost` the problems with records of the source; `error` is why it failed.
    Times are in milliseconds."""

    total: int = 0
    done: int = 0
    messages: int = 0
    current: str = ""
    state: State = "running"
    error: str = ""
    outcomes: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    lost: int = 0
    dry: bool = False
    started: int = field(default_factory=now)

    def count(self, outcome: Outcome | Literal["unreadable"]) -> None:
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def name(self, problem: Problem) -> None:
        self.problem_count += 1
        self.lost += problem.lost
        if len(self.problems) < KEPT:
            self.problems.append(problem)

    def dumps(self) -> str:
        problems = [{**asdict(one), "reason": packed(one.reason)} for one in self.problems]
        return json.dumps({**asdict(self), "error": packed(self.error), "problems": problems})

    @classmethod
    def loads(cls, text: str) -> Self:
        """Raises ValueError or TypeError for what is no progress."""
        data = json.loads(text)
        problems = [Problem(**{**one, "reason": unpacked(one["reason"])}) for one in data["problems"]]
        return cls(**{**data, "error": unpacked(data["error"]), "problems": problems})


_WORDS = {
    "imported": gettext_noop("%(count)s imported"),
    "updated": gettext_noop("%(count)s brought up to date"),
    "same": gettext_noop("%(count)s here already"),
    "newer": gettext_noop("%(count)s continued here and left as they are"),
    "diverged": gettext_noop("%(count)s continued here and in OpenCode, left as they are"),
    "deleted": gettext_noop("%(count)s deleted here and left out"),
    "running": gettext_noop("%(count)s at work here and left as they are"),
    "unreadable": gettext_noop("%(count)s not readable"),
}


def in_words(progress: Progress) -> list[str]:
    """`12 imported`, `3 here already`, … in a fixed order."""
    return [
        gettext(words) % {"count": grouped(count)}
        for key, words in _WORDS.items()
        if (count := progress.outcomes.get(key))
    ]
