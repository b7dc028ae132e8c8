"""What docs/deploy brings: files that their programs take, variables that are read, and nobody is root."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from opencode_web.cli.arguments import parse
from sessions.core import variables
from tests.runtime.conftest import home, project
from tests.server import ROOT, Server, running

__all__ = ["home", "project"]

DEPLOY = ROOT / "docs/deploy"
UNITS = sorted(path for path in DEPLOY.iterdir() if path.suffix in (".service", ".timer"))
OF_COMPOSE = {"OPENCODE_HOST"}
"""Read by the files themselves."""


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile with their arguments."""
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Dockerfile").read_text())
    return [tuple(line.split(" ", 1)) for line in text.splitlines() if re.match("[A-Z]+ ", line)]  # type: ignore[misc]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


@pytest.mark.parametrize("file", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_variables_are_those_that_are_read(file: Path) -> None:
    known = {variable.name for variable in variables.every()} | OF_COMPOSE
    assert set(re.findall(r"\b(?:OPENCODE_[A-Z_]+|REDIS_URL|XDG_\w+)", file.read_text())) <= known


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not here")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        (tmp_path / unit.name).write_text(
            unit.read_text().replace("/opt/opencode-web/bin/opencode-web", "/bin/true")
        )
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_parts_of_compose_know_each_other() -> None:
    found = compose()
    services = found["services"]
    assert set(services) == {"server", "database", "redis", "proxy"}
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        names = {str(volume).partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in names if not name.startswith(".")} <= set(found["volumes"])
        assert set(service["networks"]) <= set(found["networks"])
    environ = services["server"]["environment"]
    assert environ["OPENCODE_WEB_TRUSTED_PROXY"] == services["proxy"]["networks"]["inside"]["ipv4_address"]
    assert "@database:5432/" in environ["OPENCODE_WEB_DATABASE"]
    published = {name for name, service in services.items() if "ports" in service}
    assert published == {"proxy"}, "nothing else can be reached from outside"
    assert (
        DEPLOY / services["server"]["build"]["context"] / services["server"]["build"]["dockerfile"]
    ).exists()


def test_the_image_runs_as_nobody_in_particular_and_builds_nothing() -> None:
    last = [index for index, (name, _) in enumerate(steps()) if name == "FROM"][-1]
    final = steps()[last:]
    users = [value for name, value in final if name == "USER"]
    assert users[-1] not in ("root", "0")
    runs = " ".join(value for name, value in final if name == "RUN")
    assert not re.search(r"\b(?:npm|gcc|build-essential|uv|pip)\b", runs)


async def test_the_health_check_says_whether_it_is_ready(home: Path, project: Path) -> None:
    (check,) = (value for name, value in steps() if name == "HEALTHCHECK")
    command = json.loads(check.partition(" CMD ")[2])
    server = Server(home, project, environ={"OPENCODE_WEB_BASE_PATH": "/agent"})
    environ = {"OPENCODE_WEB_BASE_PATH": "/agent"}
    async with running(server):
        port = server.url.rpartition(":")[2].partition("/")[0]
        told = [sys.executable, *(word.replace("4096", port) for word in command[1:])]
        ready = await asyncio.to_thread(subprocess.run, told, env=environ, check=False)
    gone = await asyncio.to_thread(subprocess.run, told, env=environ, check=False, stderr=subprocess.DEVNULL)
    assert (ready.returncode, gone.returncode) == (0, 1)


def test_what_is_started_is_what_the_command_line_takes() -> None:
    ((_, given),) = (step for step in steps() if step[0] == "CMD")
    lines = [shlex.join(json.loads(given))]
    for unit in UNITS:
        lines += re.findall(r"^ExecStart=/opt/opencode-web/bin/opencode-web (.*)$", unit.read_text(), re.M)
    assert len(lines) == 3
    for line in lines:
        assert parse(shlex.split(line)).run
