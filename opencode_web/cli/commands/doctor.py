"""Whether every row can be read and every content that a row names is there, and how to mend what is not."""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction
from pydantic import ValidationError

from agents.config.configuration import load
from agents.llm import tls
from agents.llm.providers import UnknownModel
from agents.llm.trial import try_key
from agents.toolkit.catalog import default_ref, model_for
from agents.toolkit.sandbox import probe
from opencode_web.cli.terminal import Stop, plain, say
from opencode_web.site import database
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore, Packs, object_id
from sessions.changes.snapshots.sweep import loose_objects
from sessions.changes.upkeep import copies, damage
from sessions.changes.upkeep.usage import stores
from sessions.core import paths
from sessions.core.ids import now
from sessions.core.models import FileChange, Message, Part, Project, StagedFile
from sessions.core.store.rows import message_info, part_info

GONE = "it is gone from the store"
_LEFTOVERS = ("*.partial", ".salvage-*", ".restore-*", "copies/*.partial")
_OUTPUT_MS = 7 * 24 * 3600 * 1000
"""How long tool outputs are kept (`agents.agent.housekeeping`)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """`what` is wrong, and how it can be mended, in words; `mend` is empty where nothing can be done."""

    what: str
    mend: str = ""
    act: Callable[[], None] | None = None

    def repair(self) -> None:
        if self.act is not None:
            self.act()


def examine(*, contents: bool = False) -> list[Finding]:
    """All that is wrong; with `contents` each is read and compared with its address. Only looks."""
    return [*_damaged(), *_database(), *_rows(), *_addresses(contents), *_outputs(), *_leftovers()]


def _damaged() -> Iterator[Finding]:
    if found := damage.files():
        names = ", ".join(path.name for path in found)
        yield Finding(
            f"A damaged database was put aside: {names}. Nothing kept for undo is cleaned up meanwhile.",
            "remove it, and what only it names with the next clean-up",
            damage.forget,
        )


def _database() -> Iterator[Finding]:
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA integrity_check(20)")
        yield from (Finding(f"The database: {line}") for (line,) in cursor.fetchall() if line != "ok")
        cursor.execute("PRAGMA foreign_key_check")
        for table, number, parent, _ in cursor.fetchall():
            yield Finding(f"Row {number} of {table} belongs to a row of {parent} that is not there")


def _rows() -> Iterator[Finding]:
    """Each row of each table, as the program reads it."""
    for model in apps.get_models():
        if model._meta.app_label == "opencode_sessions":
            for key in _unreadable(model):
                yield Finding(
                    f"{model._meta.verbose_name} {key} cannot be read",
                    "take it out of the database, into a file beside it",
                    partial(_take_out, model, key),
                )


def _unreadable(model: type[models.Model]) -> list[Any]:
    """The keys of rows that cannot be read; row by row only where reading them all fails."""
    rows = model._base_manager.all()
    try:
        return [row.pk for row in rows.iterator() if not _is_valid(row)]
    except Exception:
        return [key for key in rows.values_list("pk", flat=True) if not _is_readable(rows.filter(pk=key))]


def _is_readable(rows: models.QuerySet[models.Model]) -> bool:
    try:
        return all(_is_valid(row) for row in rows)
    except Exception:
        return False


def _is_valid(row: models.Model) -> bool:
    try:
        if isinstance(row, Message):
            message_info(row)
        elif isinstance(row, Part):
            part_info(row)
    except ValidationError:
        return False
    return True


def _take_out(model: type[models.Model], key: Any) -> None:
    """Delete a row as it is, with what belongs to it, and keep its columns as a line of JSON."""
    table, column = model._meta.db_table, model._meta.pk.column
    file = paths.data_directory() / f"unreadable-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.jsonl"
    with transaction.atomic(), connection.cursor() as cursor:
        taken = [(table, column)]
        if model is Message:
            taken.insert(0, (Part._meta.db_table, "message_id"))
        for name, by in taken:
            cursor.execute(f'SELECT * FROM "{name}" WHERE "{by}" = %s', [key])  # noqa: S608
            head = [str(field[0]) for field in cursor.description]
            with file.open("a") as lines:
                file.chmod(0o600)
                for row in cursor.fetchall():
                    lines.write(
                        json.dumps({"table": name, **dict(zip(head, row, strict=True))}, default=str) + "\n"
                    )
            cursor.execute(f'DELETE FROM "{name}" WHERE "{by}" = %s', [key])  # noqa: S608


def _addresses(contents: bool) -> Iterator[Finding]:
    """Contents that the ledger and the edits in review name."""
    for project in Project.objects.all():
        changes = FileChange.objects.filter(project=project, skipped="").values_list(
            "pk", "before", "after", "path"
        )
        lacking = _lacking(project.id, contents)
        bad = [(key, path) for key, before, after, path in changes.iterator() if lacking((before, after))]
        if bad:
            some = ", ".join(sorted({path for _, path in bad})[:3])
            yield Finding(
                f"{project.name}: {len(bad)} change{'s' * (len(bad) > 1)} of files ({some}"
                f"{', …' if len(bad) > 3 else ''}) lack a content",
                "mark them as not undoable",
                partial(_mark_gone, [key for key, _ in bad]),
            )
        staged = StagedFile.objects.filter(project=project).values_list("path", "base", "content")
        for path, base, content in staged:
            if lacking((base, content)):
                yield Finding(f"{project.name}: the edit of {path} that waits in review mode lacks a content")


def _lacking(project_id: str, contents: bool) -> Callable[[Iterable[str]], bool]:
    """Whether a store lacks one of some addresses, or with `contents` has another content there."""
    root = Path(settings.SNAPSHOT_DIR) / project_id
    if not root.is_dir():
        return lambda oids: any(oids)
    store, known = ObjectStore(root), {item.oid for item in loose_objects(root)}
    for pack in Packs(root / "objects" / "pack").all():
        known |= pack.sizes().keys()
    answers: dict[str, bool] = {}

    def is_there(oid: str) -> bool:
        if not contents:
            return oid in known or store.has(oid)
        try:
            return object_id(store.get(oid)) == oid
        except (ObjectMissing, ValueError, OSError):
            return False

    def lacks(oids: Iterable[str]) -> bool:
        for oid in filter(None, oids):
            if oid not in answers:
                answers[oid] = is_there(oid)
        return not all(answers[oid] for oid in oids if oid)

    return lacks


@transaction.atomic
def _mark_gone(keys: list[int]) -> None:
    FileChange.objects.filter(pk__in=keys).update(skipped=GONE, before="", after="")


def _outputs() -> Iterator[Finding]:
    """Kept outputs of tools that should still be there."""
    folder = Path(settings.TOOL_OUTPUT_DIR)
    rows = Part.objects.filter(type="tool", data__state__metadata__outputPath__isnull=False)
    for row in rows.iterator():
        try:
            path = Path(row.data["state"]["metadata"]["outputPath"])
            young = row.data["state"]["time"]["end"] > now() - _OUTPUT_MS
        except (KeyError, TypeError):
            continue
        if young and path.is_relative_to(folder) and not path.exists():
            yield Finding(
                f"The whole output of a call ({path.name}) is gone; its beginning and end are there"
            )


def _leftovers() -> Iterator[Finding]:
    """What nothing will ever ask for again."""
    data = paths.data_directory()
    for path in sorted({path for pattern in _LEFTOVERS for path in data.glob(pattern)}):
        yield Finding(
            f"{path.name} was left by something that was cut short", "remove it", partial(_remove, path)
        )
    if damage.files():
        return
    known = set(Project.objects.values_list("id", flat=True))
    for root in stores():
        if root.name not in known:
            yield Finding(
                f"The store {root.name} belongs to no project that is known",
                "remove it",
                partial(_remove, root),
            )


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def run(arguments: argparse.Namespace, directory: Path) -> None:
    """Say what is wrong, and mend it with --repair; with --providers only how they are reached, and what they
    say. Raise Stop (status 1) when something is wrong then."""
    if arguments.providers:
        _providers(directory)
        return
    salvaged = _examine_file(arguments)
    findings = examine(contents=arguments.verify)
    for finding in findings:
        say(
            f"- {plain(finding.what)}"
            + (f"\n  {_verb(arguments)}: {plain(finding.mend)}" if finding.mend else "")
        )
    mendable = [] if salvaged else [finding for finding in findings if finding.act]
    if arguments.repair and mendable and _confirm(arguments, f"Do this, {len(mendable)} in all?"):
        for finding in mendable:
            finding.repair()
        findings = examine(contents=arguments.verify)
        say(f"Mended. {len(findings)} left." if findings else "Mended.")
    if not findings:
        say("All is well: every row can be read, and every content that one names is there.")
    for line in probe.in_words(probe.found()):
        say(plain(line))
    if findings:
        count = f"{len(findings)} thing{'' if len(findings) == 1 else 's'}"
        raise Stop(
            f"{count} to look at"
            + ("" if arguments.repair and not salvaged else "; --repair mends what can be mended")
        )


def _providers(directory: Path) -> None:
    """Proxy and authorities in force, and a small request to the provider of the model that prompts here
    get. Raise Stop when it does not answer as it should."""
    say(f"Proxies: {plain(_proxies())}.")
    say(f"Trusted authorities: {plain(tls.in_words())}.")
    try:
        ref = asyncio.run(default_ref(directory, None))
        model = asyncio.run(model_for(directory, ref))
    except UnknownModel as error:
        raise Stop(str(error)) from error
    say(f"Model: {plain(model.ref)}, by {_PROTOCOLS[model.protocol]}.")
    if model.protocol == "scripted" or model.account is not None:
        say("There is no key to try.")
        return
    entry = load(directory).config.provider.get(model.provider_id) or {}
    trial = asyncio.run(try_key(model.provider_id, entry, model.api_key))
    if trial.verdict != "works":
        raise Stop(f"{model.provider_id}: {plain(trial.reason)}")
    opened = "" if trial.models is None else f" and lists {trial.models} models"
    say(f"{plain(model.provider_id)} answers{opened}.")


_PROTOCOLS = {
    "openai": "chat completions",
    "responses": "OpenAI's responses",
    "anthropic": "Anthropic's messages",
    "litellm": "litellm",
    "scripted": "a script",
}


def _proxies() -> str:
    """Those of the environment and of the system, without the password that may be in them."""
    found = {scheme: urlsplit(url) for scheme, url in getproxies().items() if scheme != "no"}
    shown = [f"{scheme} by {parts.hostname}:{parts.port}" for scheme, parts in sorted(found.items())]
    return (", ".join(shown) or "none") + (
        f", not for {direct}" if (direct := getproxies().get("no")) else ""
    )


def _examine_file(arguments: argparse.Namespace) -> bool:
    """A damaged file is salvaged only when that was asked for; whether it was. What was put aside is then
    left for another time: nobody has looked at it."""
    file = copies.database()
    fault = database.find_fault(file) if file and file.exists() else ""
    if fault:
        say(f"- The database is damaged: {plain(fault)}")
        say("  It is put aside, and what can be read goes into a new one; so does the next start.")
        if not arguments.repair or not _confirm(arguments, "Do this?"):
            raise Stop("the database is damaged")
    if said := database.prepare():
        say(said)
    return bool(said)


def _verb(arguments: argparse.Namespace) -> str:
    return "Now" if arguments.repair else "With --repair"


def _confirm(arguments: argparse.Namespace, question: str) -> bool:
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise Stop("nobody can be asked here: --yes says yes", 2)
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
