"""The checks of a goal: what has to hold at its end, a line each.

    make test                     a command: it ends with status 0
    coverage >= 80: make cover    a command whose last percentage is at least so much
    file: docs/usage.md           a file of the project is there
    problems                      language servers find no error that was not there before

A command is the person's own, who wrote it down: nobody is asked about it. It runs as those of the agent do,
in the sandbox where they have one, for it runs what the agent has made.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from agents.agent.run import Run
from agents.config.limits import limits_of
from agents.plugins.calls import shell_variables
from agents.servers.lsp.service import service
from agents.toolkit.sandbox import door
from agents.toolkit.shared.capture import Capture
from agents.toolkit.shared.environment import shell_environment
from agents.toolkit.shared.process import CannotStart, Ended
from agents.toolkit.turn import Turn
from agents.tools.bash import shell
from sessions.changes.review.filediffs import Changed, NetChange
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.core import paths
from sessions.core.db import in_db
from sessions.core.models.ledger import shown
from sessions.core.store import problems
from sessions.core.store.problems import Known, Place, Problem

SECONDS = 1800.0
"""For one command, unless the configuration allows less."""
MOST_OUTPUT = 4_000
"""Characters of the end of what a check says that are kept."""
MOST_FILES = 200
LOOK_SECONDS = 10.0
"""For what language servers say of one file."""
_COVERAGE = re.compile(r"coverage\s*>=\s*(\d{1,3}(?:\.\d+)?)\s*%?\s*:\s*(\S.*)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r"file:\s*(\S.*)", re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%")

Kind = Literal["command", "coverage", "file", "problems"]


class BadCheck(ValueError):
    """A line that is no check; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Check:
    """`subject` is the command or the path, `least` a percentage."""

    line: str
    kind: Kind
    subject: str = ""
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """What a check gave: `exit` of a command that ended by itself, the end of its `output`, and the `time`
    that it took in milliseconds."""

    check: str
    passed: bool
    output: str
    exit: int | None = None
    time: int = 0

    def wire(self) -> dict[str, Any]:
        return asdict(self)


def parse(line: str) -> Check:
    """Raises BadCheck."""
    text = line.strip()
    if found := _COVERAGE.fullmatch(text):
        return Check(text, "coverage", found[2], float(found[1]))
    if text.lower().startswith("coverage >"):
        raise BadCheck(
            gettext("%(text)s: write coverage >= 80: and the command that measures it.") % {"text": text}
        )
    if found := _FILE.fullmatch(text):
        path = Path(found[1])
        if path.is_absolute() or ".." in path.parts:
            raise BadCheck(
                gettext("%(text)s: name a file of the project, without .. in its path.") % {"text": text}
            )
        return Check(text, "file", found[1])
    return Check(text, "problems") if text.lower() == "problems" else Check(text, "command", text)


def lines(text: str) -> list[str]:
    """The checks of a text, each of which is one. Raises BadCheck."""
    found = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    return [parse(line).line for line in found]


async def run(goes: Run, turn: Turn, check: Check, changed: Changed) -> Result:
    """What a check gives now. `changed` is what the session has changed."""
    begun = monotonic()
    if check.kind == "file":
        result = await asyncio.to_thread(_there, turn.worktree, check)
    elif check.kind == "problems":
        result = await _problems(turn, check, changed)
    else:
        result = await _command(goes, turn, check)
    took = round((monotonic() - begun) * 1000)
    return Result(result.check, result.passed, result.output[-MOST_OUTPUT:], result.exit, took)


def _there(worktree: Path, check: Check) -> Result:
    path = worktree / check.subject
    inside = path.resolve().is_relative_to(worktree.resolve())
    passed = inside and path.is_file()
    return Result(check.line, passed, "" if passed else gettext_noop("It is not there."))


async def _command(goes: Run, turn: Turn, check: Check) -> Result:
    capture = Capture(paths.tool_output())
    variables = await shell_variables(turn, turn.directory, "")
    try:
        ended = await door.run(
            [shell(), "-c", check.subject],
            turn,
            cwd=turn.directory,
            env={**shell_environment(), **variables},
            timeout=SECONDS,
            abort=goes.abort,
            on_output=capture.write,
        )
    except (CannotStart, door.Refused) as error:
        return Result(check.line, False, str(error))
    finally:
        await asyncio.shield(capture.close())
    said = capture.live()
    if note := _note(ended, turn):
        said = f"{said.rstrip()}\n{note}".strip()
    passed = ended.ending == "exited" and ended.exit_code == 0
    if check.kind == "coverage" and passed:
        measured = [float(number) for number in _PERCENT.findall(capture.live())]
        passed = bool(measured) and measured[-1] >= check.least
        told = f"{measured[-1]:g} % is covered" if measured else "It names no percentage"
        said = f"{said.rstrip()}\n[{told}; at least {check.least:g} % are wanted.]".strip()
    return Result(check.line, passed, said, ended.exit_code)


def _note(ended: Ended, turn: Turn) -> str:
    limits = limits_of(turn.config)
    seconds = min(SECONDS, limits.command_seconds or SECONDS)
    words = {
        "timeout": f"[Stopped after {seconds:,.0f} seconds: the time limit.]",
        "memory": "[Stopped at the limit of memory.]",
        "processor": "[Stopped at the limit of processor time.]",
        "aborted": "[Stopped before it ended.]",
    }
    kept = [
        f"[The sandbox did not let it {verb}: {', '.join(names)}.]"
        for verb, names in (("reach", ended.refused), ("write", ended.unwritten))
        if names
    ]
    return " ".join(filter(None, (words.get(ended.ending, ""), *kept)))


async def _problems(turn: Turn, check: Check, changed: Changed) -> Result:
    """Errors of the files that the session has changed, but those that the files had before."""
    found = await errors(turn, changed)
    if found is None:
        files = _looked_at(changed)
        words = "No language server looks at what was changed." if files else "Nothing was changed yet."
        return Result(check.line, not files, words)
    return Result(check.line, not found.new, "\n".join(found.new))


@dataclass(frozen=True, slots=True)
class Errors:
    """Of the changed files, as many as language servers found `before` and `after`, and which are `new`."""

    before: int
    after: int
    new: Sequence[str]


async def errors(turn: Turn, changed: Changed) -> Errors | None:
    """None where no language server looks at any of the files."""
    wanted = [(turn.worktree / shown(file.path), file) for file in _looked_at(changed)]
    served = [(path, file) for path, file in wanted if await service.serves(turn.directory, path)]
    if not served:
        return None
    before, after, new = 0, 0, list[str]()
    for path, file in served:
        await _let_look_back(turn, path, file, changed)
        await service.touch(turn.directory, path, wait=LOOK_SECONDS)
        known = await _known(turn, file)
        olds = _errors(known.get((file.path, file.before), {}).values())
        news = _errors(known.get((file.path, file.after), {}).values())
        before, after = before + len(olds), after + len(news)
        new += [f"{shown(file.path)}:{one.line + 1}: {one.message}" for one in _new(olds, news)]
    return Errors(before, after, new)


def _looked_at(changed: Changed) -> list[NetChange]:
    return [file for file in changed.files if file.after and not file.skipped][:MOST_FILES]


async def _known(turn: Turn, file: NetChange) -> Mapping[Place, Known]:
    places = [(file.path, oid) for oid in (file.before, file.after) if oid]
    return await in_db(problems.of_contents, turn.session.project_id, places)


async def _let_look_back(turn: Turn, path: Path, file: NetChange, changed: Changed) -> None:
    """Have servers look at a file as it was before, where none has."""
    if not file.before or (file.path, file.before) in await _known(turn, file):
        return
    try:
        content = await asyncio.to_thread(changed.roots.of(file.path).objects.get, file.before)
    except ObjectMissing:
        return
    await service.touch(turn.directory, path, wait=LOOK_SECONDS, content=content)


def _errors(found: Iterable[Sequence[Problem]]) -> list[Problem]:
    return [one for some in found for one in some if one.severity == problems.ERROR]


def _new(before: Sequence[Problem], after: Sequence[Problem]) -> list[Problem]:
    """Those that are not among others, wherever in the file these stand."""
    known = Counter((one.server, one.code, one.message) for one in before)
    found = []
    for one in after:
        name = (one.server, one.code, one.message)
        if known[name]:
            known[name] -= 1
        else:
            found.append(one)
    return found
