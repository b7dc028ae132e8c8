"""Schedules in Markdown files of a project: when and how between lines of `---`, below that what is to be
done. A file counts once a person trusts exactly its content (docs/decisions/0007-trust.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent.schedules import times
from agents.config.loader import is_disabled
from agents.config.trust.reach import Reach
from agents.config.trust.store import TrustStore, digest, name_in
from agents.config.trust.wants import MAX_DETAIL, Content, Want, Wish
from sessions.core.models import Schedule
from sessions.core.repository import Repository
from sessions.core.store.schedules import ScheduleRefused, Terms
from sessions.core.wire.session import Preset

FOLDERS = (".agents/loops", ".opencode/schedules")
MOST_FILES = 100
MOST_BYTES = 256 * 1024
UNTRUSTED = gettext_noop("It waits until you trust this file.")
GONE = gettext_noop("Its file is gone.")
_WORDS = gettext_noop("Runs the agent by itself")

Kind = Schedule.Kind


class _Keys(BaseModel):
    """What may stand between the lines of `---`; of the ways to say when it is one."""

    model_config = ConfigDict(strict=True, extra="forbid", populate_by_name=True)

    name: str = ""
    enabled: bool = True
    schedule: str = Field("", validation_alias="cron")
    daily: str = ""
    at: str = ""
    files: list[str] | str = ""
    commit: str = ""
    hook: bool = False
    timezone: str = ""
    catch_up: Literal["once", "skip"] = "once"
    goal: bool = False
    checks: list[str] = []
    judge: str = ""
    turns: int = Field(0, ge=0)
    agent: str = ""
    model: str = ""
    variant: str = ""
    mode: Preset | Literal[""] = ""
    worktree: bool = False
    cost: float = Field(0, ge=0, strict=False)
    minutes: int = Field(0, ge=0)
    payload: bool = False
    prompt: str = ""

    def when(self) -> tuple[str, str]:
        """Kind and rule. Raises BadTime."""
        files = self.files if isinstance(self.files, str) else "\n".join(self.files)
        given = {
            "schedule": (Kind.CRON, self.schedule and times.expression(self.schedule)),
            "daily": (Kind.CRON, self.daily and times.daily(self.daily)),
            "at": (Kind.ONCE, self.at and times.once(self.at)),
            "files": (Kind.FILES, files.strip()),
            "commit": (Kind.COMMIT, self.commit.strip()),
        }
        found = [(str(kind), rule) for kind, rule in given.values() if rule]
        found += [(str(Kind.HOOK), "")] if self.hook else []
        if len(found) != 1:
            raise times.BadTime(
                gettext("Say when by one of: %(names)s.") % {"names": ", ".join((*given, "hook"))}
            )
        return found[0]

    def terms(self, stem: str) -> Terms:
        """Raises BadTime."""
        kind, rule = self.when()
        zone = self.timezone or times.local_zone()
        times.zone_of(zone)
        return Terms(
            self.name.strip() or stem,
            kind,
            rule,
            zone,
            self.prompt,
            catch_up=self.catch_up == "once",
            goal=self._goal() if self.goal or self.checks else None,
            agent=self.agent,
            model=self.model,
            variant=self.variant,
            preset=self.mode,
            worktree=self.worktree,
            cost=self.cost,
            minutes=self.minutes,
            payload=self.payload,
        )

    def _goal(self) -> dict[str, Any]:
        return {"checks": self.checks, "judge": self.judge, "turns": self.turns}


@dataclass(frozen=True, slots=True)
class Found:
    """A file: `name` is its path in the project. `terms` are there where it can be read; `problem` says why
    it does not count."""

    name: str
    digest: str
    text: str
    trusted: bool
    terms: Terms | None = None
    enabled: bool = True
    problem: str = ""


def found(directory: Path) -> list[Found]:
    """Those of the project around a folder, in the order of their paths. Reads files."""
    if is_disabled(os.environ):
        return []
    try:
        top = Repository.of(directory).worktree
    except OSError:
        return []
    trusted = TrustStore(Path(settings.TRUST_FILE)).now(top)
    reach = Reach(top)
    files = []
    for path in _paths(top):
        try:
            content = reach.read(path, MOST_BYTES)
            text = content.decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue  # it leads out of the project, or is no text
        name, sha = name_in(top, path), digest(content)
        files.append(_read(name, sha, text, trusted.holds({name: sha})))
    return files


def current(directory: Path, name: str) -> Found | None:
    """One of them as it is now; None where it is gone. Reads files."""
    return next((file for file in found(directory) if file.name == name), None)


def wants(directory: Path) -> list[Want]:
    """What they ask for: to run by themselves. Reads files."""
    return [
        Want([Content(file.name, file.digest, file.text)], [Wish("", _WORDS, _detail(file))], file.trusted)
        for file in found(directory)
        if file.terms is not None
    ]


def _paths(top: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        try:
            names = sorted(name for name in os.listdir(top / folder) if name.endswith(".md"))
        except OSError:
            continue
        yield from (top / folder / name for name in names[:MOST_FILES] if not name.startswith("."))


def _read(name: str, sha: str, text: str, trusted: bool) -> Found:
    from agents.config.frontmatter import Document

    stem = name.rpartition("/")[2].removesuffix(".md")
    try:
        entry: Any = Document(text, "schedule", stem).value["schedule"][stem]
        if not isinstance(entry, dict):
            raise times.BadTime(gettext("Expected keys and values between the lines of ---."))
        keys = _Keys.model_validate({**entry, "prompt": str(entry.get("prompt", ""))})
        terms = keys.terms(stem)
        terms.check()
    except ValidationError as error:
        wrong = error.errors()[0]
        where = ".".join(map(str, wrong["loc"]))
        return Found(name, sha, text, trusted, problem=f"{where}: {wrong['msg']}")
    except (ScheduleRefused, ValueError) as error:
        return Found(name, sha, text, trusted, problem=str(error))
    return Found(name, sha, text, trusted, terms, keys.enabled, "" if trusted else UNTRUSTED)


def _detail(file: Found) -> str:
    terms = file.terms
    assert terms is not None
    when = " ".join(filter(None, (terms.kind, *terms.rule.split("\n"), terms.zone)))
    more = [f"mode: {terms.preset}" if terms.preset else "", "worktree" if terms.worktree else ""]
    return "\n".join(filter(None, (when, *more, terms.text)))[:MAX_DETAIL]
