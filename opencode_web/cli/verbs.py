"""The commands that OpenCode has too, with its names and options; `cli.commands` carries them out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import django

from opencode_web.cli.setup import prepare_django, project_directory, tell_problems
from opencode_web.cli.terminal import whole
from opencode_web.site import logs
from sessions.core import variables

NAMES = (
    *(
        "agent",
        "auth",
        "backup",
        "compare",
        "db",
        "debug",
        "doctor",
        "export",
        "import",
        "models",
        "node",
        "people",
        "plugin",
        "pr",
    ),
    *("providers", "remote", "restore", "run", "schedule", "service", "session", "stats", "trust"),
    "upgrade",
)

MODES = ("ask", "edits", "alone", "reviewed", "everything")
"""As `sessions.core.wire.session` has them, which takes its time to load."""
ROLES = ("see", "ask", "approve", "administer")
"""As `sessions.core.roles` has them, which needs Django."""
ALL = 1_000_000
"""More than there is to list."""

Subparsers = Any
"""What `add_subparsers` gives; argparse keeps its type private."""
Action = Callable[[argparse.Namespace, Path], None]


def add(commands: Subparsers) -> None:
    """Add every verb to the command line's parser."""
    for declare in (
        *(_run, _compare, _models, _auth, _session, _stats, _agent, _debug, _backup, _restore, _doctor),
        *(_import, _export, _trust, _plugin, _db, _upgrade, _pr, _node, _people, _schedule),
        *(_service, _remote),
    ):
        declare(commands)


def verb(
    parser: argparse.ArgumentParser,
    command: str,
    action: str = "",
    *,
    prepare: Callable[[], None] | None = prepare_django,
    in_project: bool = True,
) -> None:
    """What `actions` has for this command is given the arguments and the folder they are about, once
    `prepare` has made ready what it needs: the database, Django alone (`django.setup`), or nothing. A command
    that is not `in_project` takes no --dir."""
    if in_project:
        parser.add_argument("--dir", metavar="DIR", help="the project (the current folder)")
    log_options(parser)

    def run(arguments: argparse.Namespace) -> None:
        logs.set_up(print_logs=arguments.print_logs, level=arguments.log_level)
        named = arguments.dir if in_project else None
        directory = project_directory(named) if named else _here()
        tell_problems(directory if in_project else None)
        if prepare is not None:
            prepare()
        actions(command)[action](arguments, directory)

    parser.set_defaults(run=run)


def log_options(parser: argparse.ArgumentParser) -> None:
    shown, least = variables.PRINT_LOGS.is_true(), variables.LOG_LEVEL.read().upper()
    parser.add_argument(
        "--print-logs", action="store_true", default=shown, help="show the log on standard error too"
    )
    parser.add_argument(
        "--log-level",
        choices=logs.LEVELS,
        default=least if least in logs.LEVELS else variables.LOG_LEVEL.default,
        help="the least to log (INFO)",
    )


def begin_options(parser: argparse.ArgumentParser) -> None:
    """What a prompt goes on with, and who answers it."""
    parser.add_argument(
        "-c", "--continue", dest="last", action="store_true", help="go on with the last session"
    )
    parser.add_argument("-s", "--session", metavar="ID", help="go on with this session")
    parser.add_argument("--fork", action="store_true", help="go on in a copy of the session")
    parser.add_argument(
        "-m", "--model", metavar="PROVIDER/MODEL", help="the model (`opencode-web models` lists them)"
    )
    parser.add_argument("--agent", metavar="NAME", help="the agent (`opencode-web agent list`)")


def actions(command: str) -> Mapping[str, Action]:
    """What each word behind a command does ("" where it takes none). Their modules load here: most need
    Django set up, and none has to wait for the libraries of another."""
    match command:
        case "run":
            from opencode_web.cli.commands import run

            return {"": run.run}
        case "compare":
            from opencode_web.cli.commands import compare

            return {"": compare.compare}
        case "models":
            from opencode_web.cli.commands import models

            return {"": models.listing}
        case "auth":
            from opencode_web.cli.commands import accounts

            return {"login": accounts.login, "list": accounts.listing, "logout": accounts.logout}
        case "session":
            from opencode_web.cli.commands import conversations

            return {
                "list": conversations.listing,
                "search": conversations.search,
                "delete": conversations.delete,
                "move": conversations.move,
            }
        case "stats":
            from opencode_web.cli.commands import statistics

            return {"": statistics.stats}
        case "agent":
            from opencode_web.cli.commands import agents

            return {"list": agents.listing, "create": agents.create}
        case "debug":
            from opencode_web.cli.commands import debug

            return {
                "config": debug.config,
                "environment": debug.environment,
                "paths": debug.paths,
                "agent": debug.agent,
                "skill": debug.skill,
                "lsp diagnostics": debug.diagnostics,
                "lsp document-symbols": debug.symbols,
                "lsp symbols": debug.sought_symbols,
                "rg files": debug.files,
                "rg search": debug.lines,
                "file read": debug.read,
                "file list": debug.entries,
                "file search": debug.matches,
                "info": debug.info,
            }
        case "backup" | "restore":
            from opencode_web.cli.commands import backup

            return {"": backup.make_backup if command == "backup" else backup.restore_backup}
        case "node":
            from opencode_web.cli.commands import nodes

            return {
                "list": nodes.listing,
                "forget": nodes.forget,
                "drain": nodes.drain,
                "undrain": nodes.undrain,
                "invite": nodes.invite,
                "join": nodes.join,
                "restore": nodes.restore,
            }
        case "schedule":
            from opencode_web.cli.commands import schedules

            return {
                "list": schedules.listing,
                "run": schedules.run,
                "pause": schedules.pause,
                "resume": schedules.resume,
            }
        case "people":
            from opencode_web.cli.commands import people

            return {
                "list": people.listing,
                "add": people.add,
                "link": people.link,
                "role": people.role,
                "off": people.switch,
                "on": people.switch,
                "token": people.token,
                "email": people.email,
            }
        case "doctor":
            from opencode_web.cli.commands import doctor

            return {"": doctor.run}
        case "trust":
            from opencode_web.cli.commands import trust

            return {"": trust.trust}
        case "import" | "export":
            from opencode_web.cli.commands import transfer

            return {"": transfer.import_sessions if command == "import" else transfer.export_session}
        case "plugin":
            from opencode_web.cli.commands import plugins

            return {"": plugins.listing}
        case "db":
            from opencode_web.cli.commands import backup, database, doctor

            return {"path": database.path, "check": doctor.run, "backup": backup.make_backup}
        case "service":
            from opencode_web.cli.commands import service

            return {"install": service.install, "remove": service.remove, "status": service.status}
        case "remote":
            from opencode_web.cli.commands import remote

            return {"": remote.check}
        case "pr":
            from opencode_web.cli.commands import pull_request

            return {"": pull_request.check_out}
        case "upgrade":
            from opencode_web.cli.commands import upgrade

            return {"": upgrade.explain}
        case "mcp":
            from opencode_web.cli.commands import servers, sign_ins

            return {
                "list": servers.listing,
                "add": servers.add,
                "auth": sign_ins.auth,
                "logout": sign_ins.logout,
                "debug": sign_ins.debug,
            }
    raise LookupError(command)


def _here() -> Path:
    return Path(os.environ.get("PWD") or Path.cwd()).resolve()


def _run(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "run",
        help="send a prompt and print the answer",
        description="Send a prompt and print the answer. It ends with 1 where the turn failed, and where "
        "something was refused because nobody was there to allow it; standard error says what.",
    )
    parser.add_argument("message", nargs="*", help="the prompt; what is piped in is added to it")
    begin_options(parser)
    parser.add_argument(
        "--resume", action="store_true", help="go on with its last turn, which was cut off; takes no message"
    )
    parser.add_argument(
        "--goal",
        action="store_true",
        help="work at the message by itself until it is reached (docs/goals.md)",
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a command that ends with 0 when the goal is reached; may be given again",
    )
    parser.add_argument("--turns", type=int, default=0, metavar="N", help="give up after so many turns")
    parser.add_argument("--share", action="store_true", help="share the session")
    parser.add_argument(
        "--mode", choices=MODES, help="how much is asked: what would be asked is refused here"
    )
    parser.add_argument("--variant", metavar="NAME", help="how hard the model thinks, such as high")
    parser.add_argument(
        "--command", metavar="NAME", help="call this command, such as init; the message is its arguments"
    )
    parser.add_argument("-f", "--file", action="append", default=[], metavar="PATH", help="attach a file")
    parser.add_argument(
        "--add-dir",
        action="append",
        default=[],
        metavar="FOLDER",
        help="let the agent read this folder as well; FOLDER:rw lets it write there too",
    )
    parser.add_argument("--title", help="title of a new session")
    parser.add_argument(
        "--format", choices=("default", "json"), default="default", help="json: an event a line"
    )
    parser.add_argument("--thinking", action="store_true", help="show what the model thinks")
    parser.add_argument("--auto", action="store_true", help="allow whatever no rule denies (dangerous)")
    server_options(parser)
    verb(parser, "run", prepare=None)


def _compare(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "compare",
        help="try a prompt with several models, and compare what they did",
        description="Try a prompt several ways at once, each in a git worktree of its own from the last "
        "commit, and print what each came to (docs/compare.md). Every model is tried with every agent. It "
        "ends with 0 where all checks of at least one attempt pass.",
    )
    parser.add_argument("message", nargs="*", help="the prompt; what is piped in is added to it")
    parser.add_argument(
        "-m",
        "--model",
        action="append",
        default=[],
        metavar="PROVIDER/MODEL[#VARIANT]",
        help="a model to try it with; may be given again",
    )
    parser.add_argument(
        "--agent",
        action="append",
        default=[],
        metavar="NAME",
        help="an agent to try it with; may be given again",
    )
    parser.add_argument(
        "--times", type=whole(1, 12), default=1, metavar="N", help="try each so many times (1)"
    )
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="COMMAND",
        help="a command that ends with 0 where an attempt is as wanted; may be given again",
    )
    parser.add_argument(
        "--judge",
        default="",
        metavar="PROVIDER/MODEL",
        help="who reads them all at the end (the small model); none for nobody",
    )
    parser.add_argument("--mode", choices=MODES, help="how much is asked: what is asked waits at the page")
    parser.add_argument(
        "--at-once", type=whole(1, 12), default=3, metavar="N", help="so many work at a time (3)"
    )
    parser.add_argument("--format", choices=("table", "json"), default="table")
    server_options(parser)
    verb(parser, "compare", prepare=None)


def server_options(parser: argparse.ArgumentParser) -> None:
    """Which server carries it out; without one, that of the project, which is started if need be."""
    parser.add_argument("--attach", metavar="URL", help="use the server that runs there")
    name = variables.USERNAME.read()
    parser.add_argument("-u", "--username", default=name, help=f"of that server ({name})")
    parser.add_argument("-p", "--password", help="of that server (OPENCODE_SERVER_PASSWORD)")


def _models(commands: Subparsers) -> None:
    parser = commands.add_parser("models", help="list the models")
    parser.add_argument("provider", nargs="?", help="only those of this provider")
    parser.add_argument("--verbose", action="store_true", help="with their limits and prices, as JSON")
    verb(parser, "models")


def _auth(commands: Subparsers) -> None:
    summary = "add, list and remove keys and sign-ins of model providers"
    actions = _group(commands, "auth", summary, aliases=["providers"])
    login = actions.add_parser("login", help="add a key or sign in")
    login.add_argument("-p", "--provider", metavar="ID", help="such as anthropic; asked for otherwise")
    login.add_argument("-m", "--method", metavar="LABEL", help="the way to sign in, by its first letters")
    verb(login, "auth", "login")
    verb(
        actions.add_parser("list", aliases=["ls"], help="what is connected, and by what"),
        "auth",
        "list",
    )
    logout = actions.add_parser("logout", help="forget a key or sign-in")
    logout.add_argument("provider", nargs="?", help="asked for otherwise")
    verb(logout, "auth", "logout")


def _session(commands: Subparsers) -> None:
    actions = _group(commands, "session", "list, search, move and delete sessions")
    listed = actions.add_parser("list", help="the sessions of the project, the last used first")
    listed.add_argument("-n", "--max-count", type=whole(1, ALL), default=ALL, metavar="N", help="at most N")
    listed.add_argument("--format", choices=("table", "json"), default="table")
    verb(listed, "session", "list")
    search = actions.add_parser("search", help="search what was said, the newest first")
    search.add_argument(
        "query", nargs="+", help="words, and filters: ran:pytest file:x.py has:error agent:build"
    )
    search.add_argument("-n", "--max-count", type=whole(1, 1000), default=30, metavar="N", help="at most N")
    search.add_argument("--all", action="store_true", help="in all projects, not only in this one")
    search.add_argument("--format", choices=("table", "json"), default="table")
    verb(search, "session", "search")
    delete = actions.add_parser("delete", help="delete a session and those it started")
    delete.add_argument("session", metavar="sessionID")
    verb(delete, "session", "delete")
    move = actions.add_parser("move", help="move a session to a git worktree, with what is in no commit")
    move.add_argument("session", metavar="sessionID")
    move.add_argument(
        "--worktree", nargs="?", const="", default="", metavar="NAME", help="its name (the session's title)"
    )
    move.add_argument("--own", action="store_true", help="only the files that the session changed")
    move.add_argument("--keep", action="store_true", help="leave the changes in the original folder as well")
    move.add_argument("-n", "--dry-run", action="store_true", help="only say what would go along")
    verb(move, "session", "move")


def _stats(commands: Subparsers) -> None:
    parser = commands.add_parser("stats", help="tokens, cost and tools, summed up")
    parser.add_argument("--days", type=whole(0, 99_999), metavar="N", help="only the last N days (0: today)")
    parser.add_argument("--tools", type=whole(0, ALL), metavar="N", help="how many tools to show")
    parser.add_argument(
        "--models", nargs="?", type=whole(0, ALL), const=0, metavar="N", help="show models, or the top N"
    )
    parser.add_argument("--project", metavar="ID", help="only of this project (empty: of this folder)")
    verb(parser, "stats")


def _agent(commands: Subparsers) -> None:
    actions = _group(commands, "agent", "list and create agents")
    verb(actions.add_parser("list", help="every agent with its rules"), "agent", "list")
    create = actions.add_parser("create", help="write a new agent as a Markdown file")
    create.add_argument(
        "--path", metavar="DIR", help="the configuration folder (.opencode); the file is in its `agents`"
    )
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
    verb(create, "agent", "create")


def _debug(commands: Subparsers) -> None:
    actions = _group(commands, "debug", "show what this program sees")
    for name, summary in (
        ("config", "the merged configuration, without secrets"),
        ("environment", "the variables of the environment that count, without secrets"),
        ("paths", "where it keeps things"),
        ("agent", "an agent with all its rules"),
        ("skill", "the skills it finds, as JSON"),
        ("info", "versions of what it is made of"),
    ):
        parser = actions.add_parser(name, help=summary)
        if name == "agent":
            parser.add_argument("name")
        verb(parser, "debug", name)
    lsp = _group(actions, "lsp", "ask language servers")
    for name, summary in (
        ("diagnostics", "what they say of a file, as JSON"),
        ("document-symbols", "the symbols of a file, as JSON"),
    ):
        parser = lsp.add_parser(name, help=summary)
        parser.add_argument("path", metavar="FILE")
        verb(parser, "debug", f"lsp {name}")
    symbols = lsp.add_parser("symbols", help="the symbols of the project that these letters fit, as JSON")
    symbols.add_argument("query", metavar="QUERY")
    verb(symbols, "debug", "lsp symbols")
    rg = _group(actions, "rg", "search as its tools do")
    files = rg.add_parser("files", help="the files of the project, one a line")
    files.add_argument("--query", default="", help="those that these letters mean")
    lines = rg.add_parser("search", help="where a pattern is found, as JSON")
    lines.add_argument("pattern", metavar="PATTERN", help="a regular expression")
    file = _group(actions, "file", "a file or a folder as clients see it")
    matches = file.add_parser("search", help="the files that these letters mean, as JSON")
    matches.add_argument("query", metavar="QUERY")
    for parser, action in ((files, "rg files"), (lines, "rg search"), (matches, "file search")):
        parser.add_argument("--limit", type=whole(1, ALL), default=100, metavar="N", help="at most N (100)")
        verb(parser, "debug", action)
    for name, summary in (("read", "its content, as JSON"), ("list", "its entries, as JSON")):
        parser = file.add_parser(name, help=summary)
        parser.add_argument("path", metavar="PATH")
        verb(parser, "debug", f"file {name}")


def _backup(commands: Subparsers) -> None:
    parser = commands.add_parser("backup", help="copy the database and all that is kept with it")
    _backup_options(parser)
    verb(parser, "backup")


def _backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="TARGET", help="a new or an empty folder")
    parser.add_argument(
        "--credentials", action="store_true", help="with keys and sign-ins, encrypted by a passphrase"
    )


def _db(commands: Subparsers) -> None:
    actions = _group(commands, "db", "find, check and back up the database")
    verb(actions.add_parser("path", help="where it is"), "db", "path", prepare=django.setup)
    check = actions.add_parser("check", help="as `doctor`: look whether everything can be read")
    _doctor_options(check)
    verb(check, "db", "check", prepare=django.setup)
    backup = actions.add_parser("backup", help="as `backup`: copy it and all that is kept with it")
    _backup_options(backup)
    verb(backup, "db", "backup")


def _node(commands: Subparsers) -> None:
    group = _group(commands, "node", "the machines of a team: list, drain, forget, restore")
    verb(
        group.add_parser("list", help="what each does, and when it was seen"),
        "node",
        "list",
        in_project=False,
    )
    forget = group.add_parser("forget", help="let go of one that does not come back; its rows stay")
    forget.add_argument("name", metavar="NAME")
    verb(forget, "node", "forget", in_project=False)
    for name, summary in (
        ("drain", "have it finish its turns and begin none"),
        ("undrain", "have it begin turns again"),
    ):
        parser = group.add_parser(name, help=summary)
        parser.add_argument("name", metavar="NAME")
        verb(parser, "node", name, in_project=False)
    invite = group.add_parser("invite", help="print what a machine says to join, once, within 15 minutes")
    verb(invite, "node", "invite", in_project=False)
    join = group.add_parser("join", help="have this machine take part, as a front has invited it")
    join.add_argument("url", metavar="URL", help="of the front")
    join.add_argument("--token", required=True, help="what `node invite` printed")
    join.add_argument("--name", help="of this machine (its host's)")
    verb(join, "node", "join", prepare=django.setup, in_project=False)
    restore = group.add_parser(
        "restore", help="have a project of another machine go on here, as it was parked, or is now"
    )
    restore.add_argument("workspace", metavar="NODE:PROJECT", help="by its folder there, its name or its id")
    restore.add_argument(
        "--at", metavar="MINUTE", help="as it was then: 14:02, or 2030-01-31T14:02 (the last)"
    )
    restore.add_argument("--into", metavar="PATH", help="a new folder (the one that it has there)")
    restore.add_argument("-y", "--yes", action="store_true", help="do not ask")
    verb(restore, "node", "restore", in_project=False)


def _schedule(commands: Subparsers) -> None:
    group = _group(commands, "schedule", "what the agent does by itself in a project (docs/schedules.md)")
    listed = group.add_parser("list", help="those of the project, and when they come next")
    listed.add_argument("--format", choices=("table", "json"), default="table", help="how to print them")
    verb(listed, "schedule", "list")
    for name, summary in (
        ("run", "run one now"),
        ("pause", "have one be due no more; a run goes on"),
        ("resume", "have it be due again"),
    ):
        parser = group.add_parser(name, help=summary)
        parser.add_argument("schedule", metavar="NAME", help="its name or its id")
        verb(parser, "schedule", name)


def _people(commands: Subparsers) -> None:
    group = _group(commands, "people", "list, add and switch off who may sign in, with OPENCODE_WEB_TEAM=1")
    verb(group.add_parser("list", help="everybody, and their roles"), "people", "list", in_project=False)
    add = group.add_parser("add", help="add somebody, and print a link by which they choose a password")
    link = group.add_parser("link", help="print another link by which somebody chooses a password")
    role = group.add_parser("role", help="what somebody may do")
    off = group.add_parser("off", help="switch somebody off; what they did stays theirs")
    on = group.add_parser("on", help="let somebody in again")
    token = group.add_parser("token", help="print a new token of somebody's, for a client")
    email = group.add_parser("email", help="the address by which an issuer of OpenID Connect knows somebody")
    for parser in (add, link, role, off, on, token, email):
        parser.add_argument("name", metavar="NAME")
    for parser in (add, link):
        parser.add_argument("--url", help="the address by which people reach the server")
    add.add_argument("--role", choices=ROLES, default="ask", help="what they may do (ask)")
    add.add_argument("--admin", action="store_const", const="administer", dest="role", help="they administer")
    add.add_argument("--email", default="", metavar="ADDRESS", help="by which an issuer knows them")
    role.add_argument("role", choices=ROLES)
    email.add_argument("address", metavar="ADDRESS", help="empty for none")
    token.add_argument("--role", choices=ROLES, help="the most that it may do (what they may)")
    token.add_argument("--for", dest="client", default="command line", metavar="CLIENT", help="its name")
    off.set_defaults(active=False)
    on.set_defaults(active=True)
    for parser, action in (
        *((add, "add"), (link, "link"), (role, "role"), (off, "off"), (on, "on"), (token, "token")),
        (email, "email"),
    ):
        verb(parser, "people", action, in_project=False)


def _plugin(commands: Subparsers) -> None:
    parser = commands.add_parser("plugin", help="list the plugins and tools, loaded or not")
    verb(parser, "plugin", prepare=django.setup)


def _pr(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "pr", help="open a pull or merge request in a worktree, with a session in it"
    )
    parser.add_argument("number", type=whole(1, 2**31), metavar="NUMBER")
    parser.add_argument("--remote", default="origin", metavar="NAME", help="whose it is (origin)")
    verb(parser, "pr", prepare=None)


def _upgrade(commands: Subparsers) -> None:
    verb(
        commands.add_parser("upgrade", help="say how a newer version is had"),
        "upgrade",
        prepare=None,
        in_project=False,
    )


def _restore(commands: Subparsers) -> None:
    parser = commands.add_parser("restore", help="put a backup into an empty data folder")
    parser.add_argument("source", metavar="SOURCE", help="the folder that `backup` wrote")
    parser.add_argument("--credentials", action="store_true", help="with the keys and sign-ins in it")
    verb(parser, "restore", prepare=django.setup)


def _doctor(commands: Subparsers) -> None:
    parser = commands.add_parser("doctor", help="look whether everything is there and can be read")
    _doctor_options(parser)
    verb(parser, "doctor", prepare=django.setup)


def _doctor_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--verify", action="store_true", help="read every content and compare its hash")
    parser.add_argument("--repair", action="store_true", help="say what can be mended, and do it")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask before a repair")
    parser.add_argument(
        "--providers",
        action="store_true",
        help="say which proxies and authorities are in force; try the model's provider",
    )


def _import(commands: Subparsers) -> None:
    parser = commands.add_parser("import", help="take over OpenCode's conversations")
    parser.add_argument(
        "source",
        nargs="*",
        metavar="SOURCE",
        help="OpenCode's data folder, its database, an exported JSON, or an address of one (all in the "
        "usual places)",
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
    parser.add_argument(
        "--copy",
        action="store_true",
        help="of a session that was continued here and in OpenCode, put OpenCode's side beside it as a copy",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what would be imported")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    verb(parser, "import", in_project=False)


def _export(commands: Subparsers) -> None:
    parser = commands.add_parser("export", help="print a session as JSON, Markdown or a page")
    parser.add_argument("session", metavar="sessionID", help="`opencode-web session list` shows them")
    parser.add_argument(
        "--format",
        choices=("json", "markdown", "html"),
        default="json",
        help="json: `opencode import` takes it",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write FILE, print nothing; into a folder, a file for the session and one for each of its "
        "subagents', since `opencode import` takes one session a file",
    )
    parser.add_argument("--redact", action="store_true", help="take out secrets, shorten home folders")
    parser.add_argument("--sanitize", action="store_true", help="take out all words, keep the shape")
    verb(parser, "export", in_project=False)


def _trust(commands: Subparsers) -> None:
    parser = commands.add_parser("trust", help="look at what a project asks for, and trust it")
    parser.add_argument("path", nargs="?", metavar="PATH", help="the project (the current folder)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("-y", "--yes", action="store_true", help="do not ask")
    what.add_argument("--show", action="store_true", help="only show it, with its contents and hashes")
    what.add_argument("--list", action="store_true", help="only list what is trusted, of every project")
    what.add_argument("--revoke", action="store_true", help="trust nothing of the project any longer")
    parser.epilog = "Where nobody is: OPENCODE_WEB_TRUST=HASH[,HASH…] trusts what --show gives these hashes."
    verb(parser, "trust", prepare=django.setup, in_project=False)


def _service(commands: Subparsers) -> None:
    group = _group(commands, "service", "have it run whenever you are logged in (systemd, launchd)")
    install = group.add_parser("install", help="write the service, start it, and print a link")
    install.add_argument("path", nargs="?", metavar="DIR", help="the project to open")
    install.add_argument("--hostname", help="the address to listen on (127.0.0.1)")
    install.add_argument("--port", type=whole(1, 65535), help="the port (4096)")
    install.add_argument(
        "--env",
        action="append",
        default=[],
        metavar="NAME",
        help="take this variable along, such as ANTHROPIC_API_KEY; those of opencode-web are taken anyway",
    )
    install.add_argument("--show", action="store_true", help="only print what would be written")
    install.add_argument("--no-start", action="store_true", help="write it, and do not start it")
    verb(install, "service", "install", prepare=None, in_project=False)
    remove = group.add_parser("remove", help="end it, and remove what was written; data stays")
    verb(remove, "service", "remove", prepare=None, in_project=False)
    status = group.add_parser("status", help="what the service manager says of it")
    verb(status, "service", "status", prepare=None, in_project=False)


def _remote(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "remote", help="say where the running server can be reached, and how that is protected"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    verb(parser, "remote", prepare=None, in_project=False)


def _group(commands: Subparsers, name: str, summary: str, aliases: Sequence[str] = ()) -> Subparsers:
    """A command with commands of its own; without one of them it shows its help."""
    parser: argparse.ArgumentParser = commands.add_parser(name, help=summary, aliases=aliases)

    def run(_: argparse.Namespace) -> None:
        parser.print_help(sys.stderr)
        raise SystemExit(2)

    parser.set_defaults(run=run)
    return parser.add_subparsers(metavar="COMMAND")
