"""The commands that OpenCode has too, with its names and options; `opencode_web.verbs` carries them out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

from opencode_web import logs
from opencode_web.cli.directory import project_directory
from opencode_web.cli.django import prepare_django, wired

NAMES = ("agent", "auth", "backup", "debug", "doctor", "models", "restore", "run", "session", "stats")

Subparsers = Any
"""What `add_subparsers` gives; argparse keeps its type private."""


def add(commands: Subparsers) -> None:
    """Add every verb to the command line's parser."""
    for declare in (_run, _models, _auth, _session, _stats, _agent, _debug, _backup, _restore, _doctor):
        declare(commands)


def verb(
    parser: argparse.ArgumentParser,
    module: str,
    function: str,
    *,
    prepare: Callable[[], None] | None = prepare_django,
) -> None:
    """`function` of `opencode_web.verbs.module` is given the arguments and the folder they are about, once
    `prepare` has made ready what it needs: the database, Django alone (`django.setup`), or nothing."""
    parser.add_argument("--dir", metavar="DIR", help="the project (the current folder)")

    def run(arguments: argparse.Namespace) -> None:
        logs.set_up(print_logs=False)
        directory = project_directory(arguments.dir) if arguments.dir else _here()
        if prepare is not None:
            prepare()
        act: Callable[[argparse.Namespace, Path], None] = wired(f"opencode_web.verbs.{module}.{function}")
        act(arguments, directory)

    parser.set_defaults(run=run)


def _here() -> Path:
    return Path(os.environ.get("PWD") or Path.cwd()).resolve()


def _run(commands: Subparsers) -> None:
    parser = commands.add_parser("run", help="send a prompt and print the answer")
    parser.add_argument("message", nargs="*", help="the prompt; what is piped in is added to it")
    parser.add_argument(
        "-c", "--continue", dest="last", action="store_true", help="go on with the last session"
    )
    parser.add_argument("-s", "--session", metavar="ID", help="go on with this session")
    parser.add_argument(
        "--resume", action="store_true", help="go on with its last turn, which was cut off; takes no message"
    )
    parser.add_argument("--fork", action="store_true", help="go on in a copy of the session")
    parser.add_argument("--share", action="store_true", help="share the session")
    parser.add_argument(
        "-m", "--model", metavar="PROVIDER/MODEL", help="the model (`opencode-web models` lists them)"
    )
    parser.add_argument("--agent", metavar="NAME", help="the agent (`opencode-web agent list`)")
    parser.add_argument("--variant", metavar="NAME", help="how hard the model thinks, such as high")
    parser.add_argument(
        "--command", metavar="NAME", help="call this command, such as init; the message is its arguments"
    )
    parser.add_argument("-f", "--file", action="append", default=[], metavar="PATH", help="attach a file")
    parser.add_argument("--title", help="title of a new session")
    parser.add_argument(
        "--format", choices=("default", "json"), default="default", help="json: an event a line"
    )
    parser.add_argument("--thinking", action="store_true", help="show what the model thinks")
    parser.add_argument("--auto", action="store_true", help="allow whatever no rule denies (dangerous)")
    parser.add_argument("--attach", metavar="URL", help="use the server that runs there")
    name = os.environ.get("OPENCODE_SERVER_USERNAME") or "opencode"
    parser.add_argument("-u", "--username", default=name, help=f"of that server ({name})")
    parser.add_argument("-p", "--password", help="of that server (OPENCODE_SERVER_PASSWORD)")
    verb(parser, "run", "run", prepare=None)


def _models(commands: Subparsers) -> None:
    parser = commands.add_parser("models", help="list the models")
    parser.add_argument("provider", nargs="?", help="only those of this provider")
    parser.add_argument("--verbose", action="store_true", help="with their limits and prices, as JSON")
    verb(parser, "models", "listing")


def _auth(commands: Subparsers) -> None:
    actions = _group(commands, "auth", "add, list and remove keys and sign-ins of model providers")
    login = actions.add_parser("login", help="add a key or sign in")
    login.add_argument("-p", "--provider", metavar="ID", help="such as anthropic; asked for otherwise")
    login.add_argument("-m", "--method", metavar="LABEL", help="the way to sign in, by its first letters")
    verb(login, "accounts", "login")
    verb(
        actions.add_parser("list", aliases=["ls"], help="what is connected, and by what"),
        "accounts",
        "listing",
    )
    logout = actions.add_parser("logout", help="forget a key or sign-in")
    logout.add_argument("provider", nargs="?", help="asked for otherwise")
    verb(logout, "accounts", "logout")


def _session(commands: Subparsers) -> None:
    actions = _group(commands, "session", "list and delete sessions")
    listed = actions.add_parser("list", help="the sessions of the project, the last used first")
    listed.add_argument("-n", "--max-count", type=int, metavar="N", help="at most N")
    listed.add_argument("--format", choices=("table", "json"), default="table")
    verb(listed, "conversations", "listing")
    delete = actions.add_parser("delete", help="delete a session and those it started")
    delete.add_argument("session", metavar="sessionID")
    verb(delete, "conversations", "delete")


def _stats(commands: Subparsers) -> None:
    parser = commands.add_parser("stats", help="tokens, cost and tools, summed up")
    parser.add_argument("--days", type=int, metavar="N", help="only the last N days (0: today)")
    parser.add_argument("--tools", type=int, metavar="N", help="how many tools to show")
    parser.add_argument(
        "--models", nargs="?", type=int, const=0, metavar="N", help="show models, or the top N"
    )
    parser.add_argument("--project", metavar="ID", help="only of this project (empty: of this folder)")
    verb(parser, "statistics", "stats")


def _agent(commands: Subparsers) -> None:
    actions = _group(commands, "agent", "list and create agents")
    verb(actions.add_parser("list", help="every agent with its rules"), "agents", "listing")
    create = actions.add_parser("create", help="write a new agent as a Markdown file")
    create.add_argument("--path", metavar="DIR", help="the folder of the file (.opencode/agents)")
    create.add_argument("--name", help="its name (the first words of the description)")
    create.add_argument("--description", help="what it is for")
    create.add_argument(
        "--mode",
        choices=("all", "primary", "subagent"),
        default="all",
        help="primary: chosen by you, subagent: sent by agents (all)",
    )
    create.add_argument(
        "--permissions", "--tools", metavar="LIST", help="what it may do, separated by commas (everything)"
    )
    create.add_argument("-m", "--model", metavar="PROVIDER/MODEL", help="its model (the session's)")
    verb(create, "agents", "create")


def _debug(commands: Subparsers) -> None:
    actions = _group(commands, "debug", "show what this program sees")
    for name, told in (
        ("config", "the merged configuration, without secrets"),
        ("paths", "where it keeps things"),
        ("agent", "an agent with all its rules"),
        ("skill", "the skills it finds"),
        ("info", "versions of what it is made of"),
    ):
        parser = actions.add_parser(name, help=told)
        if name == "agent":
            parser.add_argument("name")
        verb(parser, "debug", name)


def _backup(commands: Subparsers) -> None:
    parser = commands.add_parser("backup", help="copy the database and all that is kept with it")
    parser.add_argument("target", metavar="TARGET", help="a new or an empty folder")
    parser.add_argument(
        "--credentials", action="store_true", help="with keys and sign-ins, encrypted by a passphrase"
    )
    verb(parser, "backups", "make")


def _restore(commands: Subparsers) -> None:
    parser = commands.add_parser("restore", help="put a backup into an empty data folder")
    parser.add_argument("source", metavar="SOURCE", help="the folder that `backup` wrote")
    parser.add_argument("--credentials", action="store_true", help="with the keys and sign-ins in it")
    verb(parser, "backups", "restore", prepare=django.setup)


def _doctor(commands: Subparsers) -> None:
    parser = commands.add_parser("doctor", help="look whether everything is there and can be read")
    parser.add_argument("--verify", action="store_true", help="read every content and compare its hash")
    parser.add_argument("--repair", action="store_true", help="say what can be mended, and do it")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask before a repair")
    verb(parser, "doctor", "run", prepare=django.setup)


def _group(commands: Subparsers, name: str, told: str) -> Subparsers:
    """A command with commands of its own; without one of them it shows its help."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=told)

    def run(_: argparse.Namespace) -> None:
        parser.print_help(sys.stderr)
        raise SystemExit(2)

    parser.set_defaults(run=run)
    return parser.add_subparsers(metavar="COMMAND")
