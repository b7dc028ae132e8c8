"""What is configured counts as in OpenCode: both are asked about the same configurations, many of them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio

from agents.config.loader import load
from agents.config.trust.store import TrustStore
from sessions.core import paths, variables
from tests import opencode
from tests.protocol.configurations import CASES, Case
from tests.server import PASSWORD, Server

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="session")]

DIFFERENCES: dict[str, str] = {
    "config.$schema": "0058: OpenCode writes it into the files that it reads",
    "config.username": "0058: OpenCode tells the system's account where nobody wrote a name",
    "config.*.*.name": "0058: OpenCode adds the name that the entry stands under",
    "config.mode.*": "0058: where OpenCode has them as well, under `agent`",
    "config.permission.bash.ls [*]": "0007: a repository's rules make others stricter",
    "config.*.headers.*": "0058: secrets are not shown",
    "agent.*.permission.bash ls x": "0007: a repository's rules make others stricter",
    "config.mcp.*.environment.*": "0058: secrets are not shown",
    "config.lsp.*.env.*": "0058: secrets are not shown",
    "provider.*.headers.*": "0058: secrets are not shown",
    "provider.*.api.url": "0058: the address that is used",
    "provider.*.limit.*": "0058: what is assumed where nobody wrote a limit",
    "provider.*.models.[ab].capabilities.temperature": "0058: it is sent where nobody wrote that it is taken",
    "command.tidy.template": "a skill as the model gets it, in our words",
    "command.one.template": "a skill as the model gets it, in our words",
    "command.two.template": "a skill as the model gets it, in our words",
    "command.fold.template": "a skill as the model gets it, in our words",
}
"""What is otherwise, by place and why; a page of docs/decisions where it is a decision."""

STRICTER: dict[str, str] = {
    **{
        f"agent.{name}": "0058: rules for all agents lift nothing that a built-in one is denied"
        for name in (
            *("compaction.permission.*", "summary.permission.*", "title.permission.*"),
            *("plan.permission.edit *", "explore.permission.edit *"),
        )
    },
    "agent.*.permission.bash xyz": "0058: a repository's rule lifts nothing, not even its own tools",
}
"""Where we deny what OpenCode allows or asks about, by place and why; nothing else may differ there."""

BUILT_IN = frozenset({"init", "review", "summary", "opencode-web", "customize-opencode"})
"""Commands and skills that come with either program."""


class Both(NamedTuple):
    """Clients of OpenCode and of ours, with the folders that stand for the home of each."""

    theirs: httpx.AsyncClient
    ours: httpx.AsyncClient
    homes: tuple[Path, Path]


@pytest.fixture(scope="module")
def program(user_environ: dict[str, str]) -> Path:
    return opencode.program(user_environ)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared(program: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Both]:
    """For all cases that are of a project alone."""
    folder = tmp_path_factory.mktemp("shared")
    async with _started(program, folder, Case()) as both:
        yield both


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.alone])
async def test_a_project_is_configured_alike(shared: Both, tmp_path: Path, name: str) -> None:
    await _compare(shared, tmp_path, CASES[name])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.alone])
async def test_a_machine_is_configured_alike(program: Path, tmp_path: Path, name: str) -> None:
    async with _started(program, tmp_path / "homes", CASES[name]) as both:
        await _compare(both, tmp_path, CASES[name])


def test_there_are_as_many_as_were_walked() -> None:
    assert len(CASES) >= 47


def test_every_variable_of_theirs_is_read_or_said_not_to_be(program: Path) -> None:
    names = set(re.findall(rb"\bOPENCODE_[A-Z_]*[A-Z]\b", program.read_bytes()))
    known = {variable.name for variable in variables.every()} | {
        name for group in variables.NOT_READ.values() for name in group
    }
    assert sorted({name.decode() for name in names} - known) == []


@asynccontextmanager
async def _started(program: Path, folder: Path, case: Case) -> AsyncIterator[Both]:
    homes = folder / "theirs", folder / "ours"
    environs = []
    for home in homes:
        home.mkdir(parents=True)
        _write(home, case.home)
        environs.append({name: text.replace("{home}", str(home)) for name, text in case.environ.items()})
    alone = {"OPENCODE_DISABLE_DEFAULT_PLUGINS": "1", **environs[0]}
    with opencode.serving(program, homes[0], alone) as url:
        server = Server(homes[1], homes[1], environ=environs[1])
        await asyncio.to_thread(server.start)
        try:
            async with (
                httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as theirs,
                httpx.AsyncClient(
                    base_url=server.url, auth=("opencode", PASSWORD), timeout=60, trust_env=False
                ) as ours,
            ):
                yield Both(theirs, ours, homes)
        finally:
            await asyncio.to_thread(server.stop)


async def _compare(both: Both, folder: Path, case: Case) -> None:
    projects = folder / "theirs", folder / "ours"
    for project in projects:
        await (await asyncio.create_subprocess_exec("git", "init", "-q", str(project))).wait()
        _write(project, case.here)
        (project / case.inner).mkdir(exist_ok=True)
    _trust(projects[1], projects[1] / case.inner, both.homes[1])
    theirs = await _told(both.theirs, projects[0], case, both.homes[0])
    ours = await _told(both.ours, projects[1], case, both.homes[1])
    different = sorted(_different(theirs, ours))
    assert not different, "\n".join(different)


def _write(folder: Path, files: Mapping[str, Any]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name).write_bytes(text.encode())


def _trust(project: Path, directory: Path, home: Path) -> None:
    """All that the project asks for."""
    environ = {"HOME": str(home)}
    store = TrustStore(paths.trust(environ))
    for want in load(directory, environ).wants:
        if not want.trusted:
            store.grant(project, want.digests)


async def _told(client: httpx.AsyncClient, project: Path, case: Case, home: Path) -> dict[str, Any]:
    """What a server says of a folder, each thing by its name; places as they are on neither machine."""

    async def ask(route: str) -> Any:
        answer = await client.get(f"/{route}", params={"directory": str(project / case.inner)})
        assert answer.status_code == 200, answer.text
        return json.loads(answer.text.replace(str(project), "PROJECT").replace(str(home), "HOME"))

    config = await ask("config")
    asked = _asked(config)
    providers = (await ask("config/providers"))["providers"] if config.get("provider") else []
    return {
        "config": config,
        "agent": {one["name"]: _agent(one, config, asked) for one in await ask("agent")},
        "command": {one["name"]: one for one in await ask("command") if one["name"] not in BUILT_IN},
        "provider": {one["id"]: one for one in providers if one["id"] in config["provider"]},
        "skill": {one["name"]: one for one in await ask("skill") if one["name"] not in BUILT_IN},
    }


def _asked(config: Mapping[str, Any]) -> set[tuple[str, str]]:
    """What the rules of a configuration are about."""
    sections = [config, *config.get("agent", {}).values()]
    rules = [
        (name, value) for section in sections for name, value in (section.get("permission") or {}).items()
    ]
    asked = {(name if name != "*" else "bash", "xyz") for name, _ in rules}
    return asked | {
        (name, pattern.replace("*", "x"))
        for name, value in rules
        if isinstance(value, dict)
        for pattern in value
    }


def _agent(
    agent: Mapping[str, Any], config: Mapping[str, Any], asked: set[tuple[str, str]]
) -> dict[str, Any]:
    """With what its rules come to, of what is asked about, in place of all of them; of one that is built in
    what the configuration says."""
    rules = agent["permission"]
    said = {f"{name} {text}": _decided(rules, name, text) for name, text in asked}
    if not agent.get("native"):
        return {**agent, "permission": said}
    written = {"mode", *config["agent"].get(agent["name"], ())} - {"permission"}
    return {"permission": said, **{key: agent[key] for key in written if key in agent}}


def _decided(rules: list[dict[str, str]], permission: str, text: str) -> str:
    fitting = [
        rule["action"]
        for rule in rules
        if fnmatchcase(permission, rule["permission"]) and fnmatchcase(text, rule["pattern"])
    ]
    return fitting[-1] if fitting else "ask"


def _different(theirs: Any, ours: Any) -> Iterator[str]:
    left, right = dict(_flat(theirs)), dict(_flat(ours))
    for place in left.keys() | right.keys():
        one, other = left.get(place), right.get(place)
        stricter = other == "deny" and any(fnmatchcase(place, pattern) for pattern in STRICTER)
        if one != other and not stricter and not any(fnmatchcase(place, pattern) for pattern in DIFFERENCES):
            yield f"{place}: {one!r} there, {other!r} here"


def _flat(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """The values that are no objects, by their places; what is nothing is not there, nor is white space
    around a text."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{place}.{key}" if place else key)
    elif value not in (None, "", []):
        yield place, value.strip() if isinstance(value, str) else value
