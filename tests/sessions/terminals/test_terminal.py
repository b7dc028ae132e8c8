"""Terminals and their readers: what is printed arrives, whoever reads along, and nothing outlives its end."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from sessions.terminals import registry as module
from sessions.terminals import shells
from sessions.terminals.registry import CannotOpen
from sessions.terminals.shapes import PtyCreate
from sessions.terminals.shells import set_overlay
from sessions.terminals.terminal import AHEAD, LIMIT, PIECE, Reader
from tests.processes import held
from tests.sessions.terminals.shells import all_of, is_running, python, registry, shell, until

BYTES = "import os\nfor byte in 'é日🎉'.encode(): os.write(1, bytes([byte]))"


async def test_characters_are_whole_however_their_bytes_come(tmp_path: Path) -> None:
    async with registry() as terminals:
        assert await all_of(await python(terminals, tmp_path, BYTES)) == "é日🎉"
        broken = await shell(terminals, tmp_path, r"printf 'a\377b\303'")
        assert await all_of(broken) == "a\ufffdb\ufffd"


async def test_a_flood_reaches_the_quick_reader_whole_and_the_slow_one_in_what_is_left(
    tmp_path: Path,
) -> None:
    """Nothing waits for the slow one, and no more is kept than the backlog holds."""
    async with registry() as terminals:
        terminal = await shell(terminals, tmp_path, "read go; yes | head -c 6M; exit 4")
        with Reader(terminal, None) as slow:
            await terminal.write(b"go\n")
            following = slow.follow()
            first, _ = await anext(following)
            got, most = 0, 0
            with Reader(terminal, len(first)) as quick:
                got += sum(len(text) for text in quick.replay())
                async for text, missed in quick.follow():
                    assert not missed
                    got += len(text)
                    most = max(most, terminal.backlog.end - terminal.backlog.start)
            assert len(first) + got == len("go\r\n") + 6 * 1024 * 1024 // 2 * 3
            assert most <= LIMIT
            text, missed = await anext(following)
            assert missed
            assert len(text) == PIECE
            assert slow.position == terminal.backlog.start + PIECE
    assert terminal.exit_code == 4


async def test_the_program_waits_for_its_only_reader_but_not_without_one(tmp_path: Path) -> None:
    async with registry() as terminals:
        terminal = await shell(terminals, tmp_path, "yes | head -c 3M")
        with Reader(terminal, None):
            async with asyncio.timeout(20):
                while terminal.backlog.end < AHEAD:
                    await terminal.changed()
            assert terminal.backlog.end < 2 * AHEAD
            assert terminal.exit_code is None
        await asyncio.wait_for(terminal.finished.wait(), 20)
        assert terminal.backlog.end == 3 * 1024 * 1024 // 2 * 3


async def test_what_is_typed_waits_for_a_program_that_does_not_read(tmp_path: Path) -> None:
    """More than a pseudo terminal holds; all of it arrives once it is read."""
    async with registry() as terminals:
        script = "stty raw -echo; echo ready; read go < gate; head -c 300000 | wc -c"
        os.mkfifo(tmp_path / "gate")
        terminal = await shell(terminals, tmp_path, script)
        await until(terminal, "ready")
        typing = asyncio.create_task(terminal.write(b"x" * 300_000))
        await asyncio.to_thread((tmp_path / "gate").write_text, "go\n")
        assert "300000" in await until(terminal, "300000")
        await typing


@pytest.mark.parametrize(("line", "code"), [("exit 3", 3), ("kill -KILL $$", 128 + signal.SIGKILL)])
async def test_the_exit_code_is_a_shells(tmp_path: Path, line: str, code: int) -> None:
    async with registry() as terminals:
        terminal = await shell(terminals, tmp_path, f"echo last words; {line}")
        assert "last words" in await all_of(terminal)
        assert terminal.exit_code == code
        assert terminal.info.status == "exited"


async def test_it_is_the_controlling_terminal_of_its_program(tmp_path: Path) -> None:
    """So keys are signals: Ctrl+C interrupts."""
    async with registry() as terminals:
        # Not `cat`: a signal between its fork and its exec is lost, and it would wait for ever.
        waits = "while :; do sleep 0.1; done"
        terminal = await shell(terminals, tmp_path, f"trap 'echo caught; exit 5' INT; echo ready; {waits}")
        await until(terminal, "ready")
        await terminal.write(b"\x03")
        assert "caught" in await all_of(terminal)


@pytest.mark.proc
@pytest.mark.parametrize("ending", ["remove", "exit"])
async def test_what_runs_in_it_ends_with_it(tmp_path: Path, ending: str) -> None:
    """A background job, one that is stopped, and one that ignores the hang-up."""
    async with registry() as terminals:
        jobs = "sleep 1000 & echo =$!; sh -c 'kill -STOP $$; sleep 9' & echo =$!"
        deaf = "(trap '' HUP; exec sleep 1000) & echo =$!"
        terminal = await shell(terminals, tmp_path, f"{jobs}; {deaf}; echo all; read end")
        text = await until(terminal, "all")
        processes = [int(line[1:]) for line in text.split() if line.startswith("=")]
        assert len(processes) == 3
        assert all(map(is_running, processes))
        if ending == "exit":
            await terminal.write(b"\n")
            await asyncio.wait_for(terminal.finished.wait(), 20)
        else:
            await terminals.remove(terminal)
        assert not any(map(is_running, [*processes, terminal.pid]))


async def test_the_environment_has_its_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's, less its secrets; the caller's; the host's; TERM and OPENCODE_TERMINAL."""

    async def overlay(project_id: str, directory: Path, cwd: Path) -> dict[str, str]:
        return {"HOST": f"{project_id} {cwd.name}", "BOTH": "host", "TERM": "dumb"}

    for name in (*shells.PRIVATE, "INHERITED"):
        monkeypatch.setenv(name, "the server's")
    set_overlay(overlay)
    try:
        async with registry() as terminals:
            given = {"CALLER": "1", "BOTH": "caller", "OPENCODE_TERMINAL": "no", "REDIS_URL": "the caller's"}
            printed = await all_of(await shell(terminals, tmp_path, "env", **given))
    finally:
        set_overlay()
    found = dict(line.split("=", 1) for line in printed.splitlines() if "=" in line)
    assert found["INHERITED"] == "the server's"
    assert (found["CALLER"], found["BOTH"]) == ("1", "host")
    assert found["HOST"] == f"project {tmp_path.name}"
    assert (found["TERM"], found["OPENCODE_TERMINAL"]) == ("xterm-256color", "1")
    assert found["REDIS_URL"] == "the caller's"
    assert not (shells.PRIVATE - {"REDIS_URL"}) & found.keys()


async def test_a_project_has_so_many_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more is refused while all run; the oldest that has exited makes room."""
    monkeypatch.setattr(module, "LIMIT", 2)
    async with registry() as terminals:
        first = await shell(terminals, tmp_path, "read end")
        second = await shell(terminals, tmp_path, "read end")
        with pytest.raises(CannotOpen, match="2 terminals are open"):
            await shell(terminals, tmp_path, "true")
        await first.write(b"\n")
        await asyncio.wait_for(first.finished.wait(), 20)
        third = await shell(terminals, tmp_path, "read end")
        assert terminals.of(tmp_path) == [second, third]
        assert terminals.of(tmp_path.parent) == []


@pytest.mark.proc
@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        (PtyCreate(cwd="/nowhere"), "cwd"),
        (PtyCreate(cwd="~nobody-of-this-name/x"), "cwd"),
        (PtyCreate(cwd="a\0b"), "cwd"),
        (PtyCreate(command="no-such-program"), "command"),
        (PtyCreate(command="a\0b"), "command"),
        (PtyCreate(command="sh", args=["a\0b"]), ""),
        (PtyCreate(command="sh", env={"A=B": "1"}), ""),
        (PtyCreate(command="sh", args=["x" * 3_000_000]), ""),
    ],
    ids=["missing", "nobody's", "nul", "program", "program nul", "argument", "variable", "too long"],
)
async def test_what_cannot_be_started_leaves_nothing(tmp_path: Path, wanted: PtyCreate, field: str) -> None:
    before = held()
    async with registry() as terminals:
        with pytest.raises(CannotOpen) as refused:
            await terminals.open("project", tmp_path, wanted)
        assert refused.value.field == field
        assert terminals.of(tmp_path) == []
    assert held() <= before
