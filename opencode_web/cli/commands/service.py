"""`opencode-web service …`: the server as a service of the person who is logged in, by systemd or launchd.

What it is started with is this environment's: its variables go into a file that only its owner reads, so that
no secret is in the unit, which `systemctl show` prints for everybody.
"""

from __future__ import annotations

import argparse
import os
import plistlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opencode_web.cli.link import DEFAULT_PORT, link_to
from opencode_web.cli.setup import project_directory
from opencode_web.cli.terminal import Stop, say
from opencode_web.itself import ITSELF
from sessions.core import holding, paths, variables
from sessions.core.files import PRIVATE, replace_file

NAME = "opencode-web"
LABEL = "opencode-web"
ENVIRONMENT = "service.environment"
_PATIENCE = 30.0
"""Seconds in which a server that was started answers."""
_INHERITED = (
    "PATH",
    "LANG",
    "SHELL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
_NOT_TAKEN = frozenset({variables.DIRECTORY.name, variables.RUNTIME_DIR.name, variables.PRIVATE.name})
"""What is of this terminal alone."""
_NAMED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Service:
    """What a service manager is told: `files` by where they are, the commands that start it, that end it (the
    first before its files go) and that says how it is."""

    files: Mapping[Path, str] = field(repr=False)
    start: Sequence[Sequence[str]]
    end: Sequence[Sequence[str]]
    status: Sequence[str]


def install(arguments: argparse.Namespace, directory: Path) -> None:
    """Write it, start it, and print a link; with --show only print what would be written. Raises Stop."""
    folder = project_directory(arguments.path) if arguments.path else None
    environment = _environment(arguments.env)
    if arguments.show:
        environment = {name: value if name in _INHERITED else "…" for name, value in environment.items()}
    service = _service(_command(arguments, folder), environment)
    if arguments.show:
        for file, text in service.files.items():
            say(f"# {file}\n{text}")
        return
    there = holding.server(paths.data_directory())
    if there and not arguments.no_start and not _is_there(service):
        raise Stop(f"opencode-web runs already at {there}: end it first, so that the service can be the one")
    for file, text in service.files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, text.encode(), PRIVATE)
        say(f"Written: {file}")
    if arguments.no_start:
        return
    if there:
        for command in service.end[:1]:
            _call(command)
    for command in service.start:
        _call(command)
    _announce(arguments)


def remove(arguments: argparse.Namespace, directory: Path) -> None:
    """End it and remove its files; data stays. Raises Stop."""
    service = _service([], {})
    found = [file for file in service.files if file.exists()]
    if not found:
        raise Stop("there is no service of opencode-web here")
    for command in service.end[:1]:
        _call(command)
    for file in found:
        file.unlink()
        say(f"Removed: {file}")
    for command in service.end[1:]:
        _call(command)


def status(arguments: argparse.Namespace, directory: Path) -> None:
    """What the service manager says, with its exit status."""
    service = _service([], {})
    if not _is_there(service):
        raise Stop("there is no service of opencode-web here; `opencode-web service install` makes one")
    raise SystemExit(subprocess.run(service.status, check=False).returncode)


def _command(arguments: argparse.Namespace, folder: Path | None) -> list[str]:
    """What serves; its port is the same each time, as cookies and installed pages are of a port."""
    port = arguments.port or DEFAULT_PORT
    command = [*ITSELF, "serve", *([str(folder)] if folder else [])]
    hostname = ["--hostname", arguments.hostname] if arguments.hostname else []
    return [*command, "--port", str(port), *hostname, "--print-logs"]


def _environment(more: Sequence[str]) -> dict[str, str]:
    """What the program reads, and programs that it starts need, as it is set now. Raises Stop."""
    for name in more:
        if name not in os.environ:
            raise Stop(f"--env {name}: it is not set here", 2)
    known = [each.name for each in variables.every() if each.name not in _NOT_TAKEN]
    names = dict.fromkeys((*_INHERITED, *known, *more))
    found = {name: os.environ[name] for name in names if os.environ.get(name)}
    for name, value in found.items():
        if not _NAMED.fullmatch(name) or not value.isprintable():
            raise Stop(f"the value of {name} cannot be written into a file of variables", 2)
    return found


def _service(command: Sequence[str], environment: Mapping[str, str]) -> Service:
    """Raises Stop where there is no service manager."""
    if sys.platform == "darwin":
        return launchd(command, environment, Path.home(), os.getuid())
    if shutil.which("systemctl") is None:
        raise Stop(
            "there is no systemd here; have whatever starts services run `opencode-web serve --port 4096`"
        )
    return systemd(command, environment, paths.config_directory().parent)


def systemd(command: Sequence[str], environment: Mapping[str, str], config: Path) -> Service:
    """A unit of the user's (systemd.unit(5)), below the folder of configurations."""
    unit, control = f"{NAME}.service", ("systemctl", "--user")
    text = _UNIT.format(command=" ".join(map(_quoted, command)), environment=_unit_path(_environment_file()))
    lines = "".join(f"{name}={_value(value)}\n" for name, value in environment.items())
    return Service(
        files={_environment_file(): lines, config / "systemd" / "user" / unit: text},
        start=[(*control, "daemon-reload"), (*control, "enable", unit), (*control, "restart", unit)],
        end=[(*control, "disable", "--now", unit), (*control, "daemon-reload")],
        status=(*control, "status", "--no-pager", unit),
    )


def launchd(command: Sequence[str], environment: Mapping[str, str], home: Path, user: int) -> Service:
    """An agent of the user's (launchd.plist(5))."""
    file, domain = home / "Library" / "LaunchAgents" / f"{LABEL}.plist", f"gui/{user}"
    log = str(home / "Library" / "Logs" / f"{NAME}.log")
    agent = {
        "Label": LABEL,
        "ProgramArguments": list(command),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ProcessType": "Interactive",
        "ExitTimeOut": 30,
        "StandardOutPath": log,
        "StandardErrorPath": log,
    }
    return Service(
        files={file: plistlib.dumps(agent).decode()},
        start=[("launchctl", "bootstrap", domain, str(file))],
        end=[("launchctl", "bootout", f"{domain}/{LABEL}")],
        status=("launchctl", "print", f"{domain}/{LABEL}"),
    )


_UNIT = """\
# Written by `opencode-web service install`, which writes it anew.
[Unit]
Description=opencode-web, a companion for an AI coding agent
After=network-online.target

[Service]
ExecStart={command}
EnvironmentFile={environment}
Restart=on-failure
RestartSec=2
TimeoutStopSec=30
# The programs of turns end by themselves, or with what started them.
KillMode=mixed
UMask=0077

[Install]
WantedBy=default.target
"""


def _quoted(word: str) -> str:
    """A word of a command line (systemd.service(5), "Command lines")."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if re.search(r"[^\w@%+=:,./-]", word) else escaped


def _unit_path(path: Path) -> str:
    return str(path).replace("%", "%%")


def _value(text: str) -> str:
    """Of a variable in a file of them (systemd.exec(5), "EnvironmentFile=")."""
    return '"' + re.sub(r'(["\\$`])', r"\\\1", text) + '"'


def _environment_file() -> Path:
    return paths.data_directory() / ENVIRONMENT


def _is_there(service: Service) -> bool:
    return any(file.exists() for file in service.files)


def _call(command: Sequence[str]) -> None:
    """Raises Stop with what it said."""
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise Stop(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split()) or f"it ended with {done.returncode}"
        raise Stop(f"`{' '.join(command)}` failed: {said}")


def _announce(arguments: argparse.Namespace) -> None:
    """Once it answers. Raises Stop."""
    end = time.monotonic() + _PATIENCE
    while not (url := holding.server(paths.data_directory())) or not _answers(url):
        if time.monotonic() > end:
            raise Stop("the service was started and does not answer; `opencode-web service status` says why")
        time.sleep(0.2)
    say(f"opencode-web runs at {url}, now and whenever you log in.")
    if sys.platform != "darwin":
        say("So that it runs while nobody is logged in: loginctl enable-linger")
    say(f"Open {link_to(url, '/')}")


def _answers(url: str) -> bool:
    try:
        link_to(url, "/")
    except Stop:
        return False
    return True
