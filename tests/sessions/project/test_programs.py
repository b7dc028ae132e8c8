"""Programs that folders and files are opened in: which are found, and how they are started."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from sessions.project.programs import NotStarted, Program, found, own, start


@pytest.fixture
def machine(tmp_path: Path) -> dict[str, str]:
    """A screen, and a PATH with nothing in it yet but what scripts need."""
    (tmp_path / "bin").mkdir()
    return {"PATH": str(tmp_path / "bin"), "DISPLAY": ":9", "OPENCODE_SERVER_PASSWORD": "secret"}


def install(machine: dict[str, str], *names: str) -> Path:
    """Programs that write their folder, their arguments and what they know of the server to a pipe."""
    folder = Path(machine["PATH"])
    pipe = folder.parent / "told"
    if not pipe.exists():
        os.mkfifo(pipe)
    for name in names:
        script = f'#!/bin/sh\nprintf \'%s|\' {name} "$PWD" "$@" "$OPENCODE_SERVER_PASSWORD" > \'{pipe}\'\n'
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return pipe


def named(machine: dict[str, str]) -> dict[str, Program]:
    return {program.name: program for program in found(environ=machine)}


async def started(machine: dict[str, str], pipe: Path, program: Program, path: Path, line: int) -> list[str]:
    start(program, path, line, machine)
    return (await asyncio.to_thread(pipe.read_text)).split("|")[:-1]


def test_only_what_is_there_is_found(machine: dict[str, str]) -> None:
    assert found(environ=machine) == []
    install(machine, "code", "nvim", "xdg-open")
    assert set(named(machine)) == {"code", "files", "default"}
    install(machine, "xterm")
    assert set(named(machine)) == {"code", "files", "default", "nvim", "terminal"}
    assert found(environ=machine | {"DISPLAY": ""}) == []


async def test_a_file_is_opened_at_its_line(machine: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "it's {line}.py"
    file.write_text("")
    pipe = install(machine, "code", "nvim", "xterm", "xdg-open")
    programs = named(machine)
    assert await started(machine, pipe, programs["code"], file, 3) == [
        *("code", str(tmp_path), "--goto", f"{file}:3", "")
    ]
    assert (await started(machine, pipe, programs["code"], file, 0))[2:] == [str(file), ""]
    assert (await started(machine, pipe, programs["code"], tmp_path, 3))[2:] == [str(tmp_path), ""]
    assert (await started(machine, pipe, programs["files"], file, 3))[2:] == [str(tmp_path), ""]
    assert (await started(machine, pipe, programs["nvim"], file, 3))[2:] == [
        *("-e", f"{machine['PATH']}/nvim", "+3", str(file), "")
    ]


async def test_a_program_of_ones_own(machine: dict[str, str], tmp_path: Path) -> None:
    pipe = install(machine, "mine")
    at = own("Mine", "mine --at {line} 'a b'")
    assert found([at], machine) == [at]
    assert (await started(machine, pipe, at, tmp_path / "x", 7))[2:] == [
        "--at",
        "7",
        "a b",
        str(tmp_path / "x"),
        "",
    ]
    for command, words in (("", "no program"), ("'", "quotation")):
        with pytest.raises(ValueError, match=words):
            own("Mine", command)


def test_one_that_is_gone_is_told(machine: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="Mine is not there any more"):
        start(own("Mine", "mine"), tmp_path, 0, machine)
