"""What may be typed after `opencode-web`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import opencode_web
from opencode_web.cli import acp, completion, link, mcp, verbs, worker
from opencode_web.cli.terminal import whole
from sessions.core.heap import permanent

_PORT = whole(0, 65535)
_COMMANDS = ("serve", "web", "worker", "front", "url", "manage", "mcp", "acp", "completion", *verbs.NAMES)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments, with the command to call in `run`. Exits with status 2 on a wrong one.

    A first word that is no command is the project: `./serve` opens a folder of that name.
    """
    if argv[:1] == ["manage"]:
        return argparse.Namespace(run=_manage, rest=list(argv[1:]))
    if argv[:2] == ["completion", completion.WORDS]:
        return argparse.Namespace(run=_complete, words=list(argv[2:]))
    if argv[:1] and argv[0] in _COMMANDS:
        own, others = _split(argv)
        return _commands().parse_args(own, argparse.Namespace(command=others) if others else None)
    parser = _open()
    if argv[:1] and argv[0].isidentifier() and not Path(argv[0]).exists():
        parser.error(f"{argv[0]!r} is neither a command nor a folder here; --help lists the commands")
    return parser.parse_args(argv)


def _serve(arguments: argparse.Namespace) -> None:
    with permanent():
        from opencode_web.cli import start  # with what serves, which no other command waits for

    start.run(arguments)


def _serve_as_front(arguments: argparse.Namespace) -> None:
    with permanent():
        from opencode_web.cli import start

    start.run_front(arguments)


def _manage(arguments: argparse.Namespace) -> None:
    from django.core.management import execute_from_command_line

    execute_from_command_line(["opencode-web manage", *arguments.rest])


def _complete(arguments: argparse.Namespace) -> None:
    completion.answer(arguments.words, _open(), _commands())


def _split(argv: Sequence[str]) -> tuple[Sequence[str], list[str]]:
    """Before and after `--` where another program's command comes last: argparse would mix them."""
    if argv[:2] != ["mcp", "add"] or "--" not in argv:
        return argv, []
    place = list(argv).index("--")
    return argv[:place], list(argv[place + 1 :])


def _open() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="opencode-web",
        description="A local web UI for an AI coding agent: open a project, ask, approve, review, undo.",
        epilog=f"commands, each with a --help of its own:\n{_overview()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"opencode-web {opencode_web.__version__}")
    _page_options(parser)
    return parser


def _commands() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opencode-web")
    _declare(parser.add_subparsers(required=True, metavar="COMMAND"))
    return parser


def _overview() -> str:
    """A line for each command."""
    commands = argparse.ArgumentParser().add_subparsers()
    _declare(commands)
    return "\n".join(f"  {entry.dest:<10} {entry.help}" for entry in commands._get_subactions())


def _declare(commands: verbs.Subparsers) -> None:
    _page_options(commands.add_parser("web", help="serve and open the page, as without a command"))
    serve = commands.add_parser("serve", help="serve without opening a browser")
    _server_options(serve)
    serve.add_argument("--no-worker", action="store_true", help="leave the turns to `opencode-web worker`")
    serve.set_defaults(run=_serve, no_open=True)
    front = commands.add_parser("front", help="one door to the nodes of a team (docs/nodes.md)")
    _network_options(front)
    front.set_defaults(run=_serve_as_front, no_open=True, no_worker=True, directory=None)
    new_url = commands.add_parser("url", help="print a new launch link of the running server")
    new_url.add_argument("--hostname", help="where it listens (the one that has the data folder)")
    new_url.add_argument("--port", type=_PORT, help="its port")
    new_url.set_defaults(run=link.renew)
    verbs.add(commands)
    mcp.add(commands)
    acp.add(commands)
    run_worker = commands.add_parser("worker", help="run turns in a process of its own (needs REDIS_URL)")
    verbs.log_options(run_worker)
    run_worker.set_defaults(run=worker.run)
    shells = commands.add_parser("completion", help="print what a shell completes this command line by")
    shells.add_argument("shell", choices=completion.SHELLS)
    shells.set_defaults(run=completion.script)
    commands.add_parser("manage", help="Django's own commands")
    _describe(commands)


def _describe(commands: verbs.Subparsers) -> None:
    """The help of a command begins with what the list of commands says of it."""
    for entry in commands._get_subactions():
        parser = commands.choices[entry.dest]
        parser.description = entry.help
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                _describe(action)


def _page_options(parser: argparse.ArgumentParser) -> None:
    _server_options(parser)
    verbs.begin_options(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="send this")
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.set_defaults(run=_serve, no_worker=False)


def _server_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", nargs="?", metavar="DIR", help="the project to open")
    _network_options(parser)


def _network_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hostname", help="the address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port", type=_PORT, help=f"the port ({link.DEFAULT_PORT}, or the next free one; 0 for any)"
    )
    parser.add_argument(
        "--cors", action="append", default=[], metavar="ORIGIN", help="let pages of this origin call the API"
    )
    verbs.log_options(parser)
