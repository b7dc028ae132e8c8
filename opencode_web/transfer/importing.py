"""`opencode-web import [SOURCE…]`: OpenCode's conversations, from its files, its database or an export."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say
from opencode_web.transfer.bar import Bar
from sessions.transfer.importing import Import
from sessions.transfer.job import Busy, CannotWrite
from sessions.transfer.plan import Choice, Surveyed, plan, survey
from sessions.transfer.progress import Progress, in_words
from sessions.transfer.reading import find
from sessions.transfer.reading.records import Source, Unreadable
from sessions.transfer.words import describe

INCOMPLETE = 3
"""The exit status when some records of the source could not be taken."""


def run(arguments: argparse.Namespace) -> None:
    """Show what is there, ask, import. Raise Stop for what cannot be done, and for what was left out."""
    surveyed = survey(_sources(arguments.source))
    for line in (line for one in surveyed for line in describe(one)):
        say(line)
    choice = Choice(frozenset(arguments.session), frozenset(arguments.project))
    count = len(plan(surveyed, choice))
    if not count:
        errors = [one.error for one in surveyed if one.error]
        raise Stop("; ".join(errors) or "there is no such session to import")
    if not arguments.yes and not arguments.dry_run:
        _ask(count)
    _report(_carry_out(surveyed, choice, arguments.dry_run))


def _sources(named: list[str]) -> list[Source]:
    if not named:
        if found := find.found():
            return found
        raise Stop("no data of OpenCode is in the usual places; name its folder, its database or an export")
    try:
        return [source for name in named for source in find.sources(Path(name))]
    except Unreadable as error:
        raise Stop(str(error), 2) from error


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise Stop("nothing was imported: nobody can be asked here, so add --yes", 2)
    if input(f"Import {count:,} sessions? [y/N] ").strip().lower() not in ("y", "yes"):
        raise Stop("nothing was imported")


def _carry_out(surveyed: list[Surveyed], choice: Choice, dry: bool) -> Progress:
    bar = Bar(sys.stderr)
    work = Import(surveyed, choice, bar.tell, dry=dry)
    try:
        return asyncio.run(work.run())
    except (Busy, CannotWrite) as error:
        raise Stop(str(error)) from error
    except KeyboardInterrupt:
        return work.progress
    finally:
        bar.end()


def _report(progress: Progress) -> None:
    counted = ", ".join(in_words(progress)) or "none"
    say(f"{'Dry run; sessions' if progress.dry else 'Sessions'}: {counted}. Messages: {progress.messages:,}.")
    if progress.state == "failed":
        raise Stop(progress.error)
    if progress.state == "cancelled":
        raise Stop("it was interrupted; start it again and it goes on from here", 130)
    if progress.lost:
        count = f"{progress.lost:,} record{'' if progress.lost == 1 else 's'}"
        raise Stop(f"{count} could not be taken as they are; they are named above", INCOMPLETE)
