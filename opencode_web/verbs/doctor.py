"""`doctor`: is everything there, and can it be read?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from opencode_web import database, doctor
from opencode_web.cli.stop import Stop
from opencode_web.cli.terminal import say
from opencode_web.verbs.table import plain
from sessions.upkeep import copies


def run(arguments: argparse.Namespace, _: Path) -> None:
    """Say what is wrong, and mend it with --repair. Raise Stop (status 1) when something is wrong then."""
    salvaged = _examine_file(arguments)
    findings = doctor.examine(contents=arguments.verify)
    for finding in findings:
        say(
            f"- {plain(finding.what)}"
            + (f"\n  {_verb(arguments)}: {plain(finding.mend)}" if finding.mend else "")
        )
    mendable = [] if salvaged else [finding for finding in findings if finding.act]
    if arguments.repair and mendable and _agreed(arguments, f"Do this, {len(mendable)} in all?"):
        for finding in mendable:
            finding.repair()
        findings = doctor.examine(contents=arguments.verify)
        say(f"Mended. {len(findings)} left." if findings else "Mended.")
    if findings:
        count = f"{len(findings)} thing{'' if len(findings) == 1 else 's'}"
        raise Stop(
            f"{count} to look at"
            + ("" if arguments.repair and not salvaged else "; --repair mends what can be mended")
        )
    say("All is well: every row can be read, and every content that one names is there.")


def _examine_file(arguments: argparse.Namespace) -> bool:
    """A damaged file is salvaged only when that was asked for; whether it was. What was put aside is then
    left for another time: nobody has looked at it."""
    file = copies.database()
    fault = database.find_fault(file) if file and file.exists() else ""
    if fault:
        say(f"- The database is damaged: {plain(fault)}")
        say("  It is put aside, and what can be read goes into a new one; so does the next start.")
        if not arguments.repair or not _agreed(arguments, "Do this?"):
            raise Stop("the database is damaged")
    if said := database.prepare():
        say(said)
    return bool(said)


def _verb(arguments: argparse.Namespace) -> str:
    return "Now" if arguments.repair else "With --repair"


def _agreed(arguments: argparse.Namespace, question: str) -> bool:
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise Stop("nobody can be asked here: --yes says yes", 2)
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
