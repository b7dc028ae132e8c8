"""`opencode-web import [SOURCE…]`: OpenCode's conversations, from its files, its database or an export.

`opencode-web export SESSION`: as JSON that `opencode import` takes, as Markdown or as HTML.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TextIO

from opencode_web.cli.terminal import Stop, complain, say
from sessions.core.db import in_db_sync
from sessions.core.files import PRIVATE, replace_file
from sessions.core.store import sessions
from sessions.transfer.importing import Import
from sessions.transfer.job import Busy, CannotWrite, Progress, in_words
from sessions.transfer.plan import Choice, Surveyed, describe, plan, survey
from sessions.transfer.reading import find
from sessions.transfer.reading.records import Problem, Source, Unreadable
from sessions.transfer.reading.remote import fetch, is_address
from sessions.transfer.writing.document import Document, collect
from sessions.transfer.writing.forms import FORMS, written

WIDTH = 24
EVERY = 100
"""Without a terminal a line for so many."""


class Bar:
    """Give `tell` to an import."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._drawn = False
        self._terminal = out.isatty()

    def tell(self, progress: Progress, problem: Problem | None) -> None:
        if problem is not None:
            self._line(f"  {_clean(problem.where)}: {_clean(problem.reason)}")
        elif self._terminal:
            self._draw(progress)
        elif progress.done % EVERY == 0 or progress.done == progress.total:
            self._line(f"{progress.done:,} of {progress.total:,} sessions")

    def end(self) -> None:
        self._clear()
        self._out.flush()

    def _draw(self, progress: Progress) -> None:
        filled = WIDTH * progress.done // max(progress.total, 1)
        bar = "█" * filled + "·" * (WIDTH - filled)
        self._out.write(f"\r\x1b[K{bar} {progress.done:,}/{progress.total:,} {_clean(progress.current)[:40]}")
        self._out.flush()
        self._drawn = True

    def _line(self, text: str) -> None:
        self._clear()
        self._out.write(f"{text}\n")

    def _clear(self) -> None:
        if self._drawn:
            self._out.write("\r\x1b[K")
            self._drawn = False


def _clean(text: str) -> str:
    """Titles and names are other people's: nothing in them acts on the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


INCOMPLETE = 3
"""The exit status when some records of the source could not be taken."""


def import_sessions(arguments: argparse.Namespace, _: Path) -> None:
    """Show what is there, ask, import. Raise Stop for what cannot be done, and for what was left out."""
    with TemporaryDirectory() as folder:
        _import(survey(_sources(arguments.source, Path(folder))), arguments)


def _import(surveyed: list[Surveyed], arguments: argparse.Namespace) -> None:
    choice = Choice(frozenset(arguments.session), frozenset(arguments.project))
    count = len(plan(surveyed, choice))
    errors = [one.error for one in surveyed if one.error]
    for line in (line for one in surveyed if count or not one.error for line in describe(one)):
        say(line)
    if not count:
        raise Stop("; ".join(errors) or "there is no such session to import")
    if not arguments.yes and not arguments.dry_run:
        _ask(count)
    _report(_carry_out(surveyed, choice, arguments.dry_run, arguments.copy))


def _sources(named: list[str], folder: Path) -> list[Source]:
    """What is named is a path or an address; what is fetched from one is put into the folder."""
    if not named:
        if found := find.found():
            return found
        raise Stop("no data of OpenCode is in the usual places; name its folder, its database or an export")
    try:
        return [source for name in named for source in find.sources(_path(name, folder))]
    except Unreadable as error:
        raise Stop(str(error), 2) from error


def _path(name: str, folder: Path) -> Path:
    """Raises Unreadable for an address where nothing is to be had."""
    return fetch(name, Path(mkdtemp(dir=folder))) if is_address(name) else Path(name)


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise Stop("nothing was imported: nobody can be asked here, so add --yes", 2)
    if input(f"Import {count:,} sessions? [y/N] ").strip().lower() not in ("y", "yes"):
        raise Stop("nothing was imported")


def _carry_out(surveyed: list[Surveyed], choice: Choice, dry: bool, copies: bool) -> Progress:
    bar = Bar(sys.stderr)
    work = Import(surveyed, choice, bar.tell, dry=dry, copies=copies)
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


def export_session(arguments: argparse.Namespace, _: Path) -> None:
    """Write the file, or one for each session into the folder, or to the standard output. Raise Stop when
    there is no such session."""
    document = _document(arguments.session)
    if any(one.runs for one in document.every()):
        complain("the session is at work; it is written as it stands now")
    if arguments.output and Path(arguments.output).is_dir():
        for one in document.every():
            path = Path(arguments.output) / f"{one.info['id']}.{FORMS[arguments.format].ending}"
            _write(path, _content(replace(one, children=[]), arguments))
        return
    content = _content(document, arguments)
    if arguments.output:
        _write(Path(arguments.output), content)
    else:
        _print(content)


def _content(document: Document, arguments: argparse.Namespace) -> bytes:
    return written(document, arguments.format, redact=arguments.redact, sanitize=arguments.sanitize)


def _document(session_id: str) -> Document:
    row = in_db_sync(sessions.get, session_id)
    if row is None:
        raise Stop(f"there is no session {session_id}")
    return in_db_sync(collect, row)


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, for its owner alone: a conversation holds what nobody else was meant to read."""
    try:
        path.parent.stat()  # a folder that is missing is a slip: none is made
        try:
            replace_file(path, content, PRIVATE)
        except PermissionError:  # of the mode, on a file system without modes such as vfat, or for good
            replace_file(path, content)
    except OSError as error:
        raise Stop(f"{path} cannot be written: {error.strerror or error}") from error


def _print(content: bytes) -> None:
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
