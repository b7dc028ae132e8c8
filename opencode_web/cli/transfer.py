"""`import` and `export`: what may be typed after them; `opencode_web.transfer` carries them out."""

from __future__ import annotations

import argparse
from typing import Any

from opencode_web import logs
from opencode_web.cli.django import prepare_django, wired

NAMES = ("import", "export")


def add(commands: Any) -> None:
    """Add both to the command line's parser."""
    _import(commands)
    _export(commands)


def _import(commands: Any) -> None:
    parser = commands.add_parser("import", help="take over OpenCode's conversations")
    parser.add_argument(
        "source",
        nargs="*",
        metavar="SOURCE",
        help="OpenCode's data folder, its database, or an exported JSON (all in the usual places)",
    )
    parser.add_argument(
        "-s",
        "--session",
        action="append",
        default=[],
        metavar="ID",
        help="only this session and its subagents'",
    )
    parser.add_argument(
        "--project",
        action="append",
        default=[],
        metavar="DIR",
        help="only those of this folder or project id",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be imported")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    _carried_out_by(parser, "importing")


def _export(commands: Any) -> None:
    parser = commands.add_parser("export", help="print a session as JSON, Markdown or a page")
    parser.add_argument("session", metavar="sessionID", help="`opencode-web session list` shows them")
    parser.add_argument(
        "--format",
        choices=("json", "markdown", "html"),
        default="json",
        help="json: `opencode import` takes it",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write FILE, print nothing")
    parser.add_argument("--redact", action="store_true", help="take out secrets, shorten home folders")
    _carried_out_by(parser, "exporting")


def _carried_out_by(parser: argparse.ArgumentParser, module: str) -> None:
    def run(arguments: argparse.Namespace) -> None:
        logs.set_up(print_logs=False)
        prepare_django()
        wired(f"opencode_web.transfer.{module}.run")(arguments)

    parser.set_defaults(run=run)
