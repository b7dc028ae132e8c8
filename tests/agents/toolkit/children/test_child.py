"""Programs beside this one: their streams, their end, and the end of this one."""

from __future__ import annotations

import asyncio
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from agents.toolkit.children.child import CannotStart, Child
from agents.toolkit.children.loop import Background
from tests.processes import alive, held

PATH = {"PATH": os.environ["PATH"]}
STUBBORN = "trap '' TERM HUP; echo ready; while :; do sleep 1; done"


async def test_streams_and_the_tail_of_its_errors(tmp_path: Path) -> None:
    script = "read line; echo got $line; for i in $(seq 1000); do echo fault $i >&2; done"
    child = await Child.start(["sh", "-c", script], cwd=tmp_path, env=PATH)
    child.input.write(b"this\n")
    assert await child.output.readline() == b"got this\n"
    assert await child.wait() == "exited with code 0"
    await child.end()
    assert child.errors.last(2) == "fault 999\nfault 1000"
    assert child.errors.dropped == 600


async def test_the_end_of_the_input_ends_it(tmp_path: Path) -> None:
    child = await Child.start(["cat"], cwd=tmp_path, env=PATH)
    await child.end()
    assert await child.wait() == "exited with code 0"


async def test_what_does_not_want_to_end_is_killed_with_all_it_started(tmp_path: Path) -> None:
    script = f'setsid sh -c "{STUBBORN}" & echo $!; {STUBBORN}'
    child = await Child.start(["sh", "-c", script], cwd=tmp_path, env=PATH)
    lines = {(await child.output.readline()).strip() for _ in range(3)}
    inner = int(next(line for line in lines if line.isdigit()))
    assert (child.memory() or 0) > 0
    ending = os.pidfd_open(inner)
    await child.end(grace=0.1)
    assert not child.alive
    assert select.select([ending], [], [], 10)[0], "what is killed may take a moment to be gone"
    os.close(ending)
    assert not alive(inner)
    assert await child.wait() == "ended by SIGKILL"


async def test_after_the_end_its_pipes_are_closed_and_its_last_words_are_kept(tmp_path: Path) -> None:
    """Of one whose output nobody read, that never read its input, and that speaks when asked to end."""
    script = "trap 'echo farewell >&2; exit 3' TERM; echo ready >&2; head -c 1000000 /dev/zero & wait; wait"
    before = held()
    child = await Child.start(["sh", "-c", script], cwd=tmp_path, env=PATH)
    child.input.write(b"x" * 10_000_000)
    await child.end(grace=0.2)
    assert child.errors.last() == "ready\nfarewell"
    assert await child.wait() == "exited with code 3"
    assert held() <= before


@pytest.mark.parametrize(
    ("argv", "cwd", "words"),
    [
        (["no-such-program"], ".", "no-such-program is not there"),
        (["cat"], "gone", "gone is not there"),
        ([], ".", "no command is given"),
        (["."], ".", "Permission denied"),
        (["cat", "nul\0"], ".", "null byte"),
    ],
)
async def test_what_cannot_start_says_why(tmp_path: Path, argv: list[str], cwd: str, words: str) -> None:
    with pytest.raises(CannotStart, match=words):
        await Child.start(argv, cwd=tmp_path / cwd, env=PATH)


def test_children_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    """Also what has left their process group, and reads no input."""
    script = f'setsid sh -c "{STUBBORN}" & echo $!; {STUBBORN}'
    program = f"""
import asyncio, os, pathlib
from agents.toolkit.children.child import Child
async def main():
    child = await Child.start(["sh", "-c", {script!r}], cwd=pathlib.Path("."), env=dict(os.environ))
    lines = [(await child.output.readline()).decode() for _ in range(3)]
    print(child.pid, *(line.strip() for line in lines if line.strip().isdigit()), flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    # They are not ours: only descriptors tell of their end.
    watchers = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
    assert len(watchers) == 2
    parent.kill()
    parent.wait()
    for watcher in watchers:
        assert select.select([watcher], [], [], 20)[0]
        os.close(watcher)
    parent.stdout.close()


async def test_another_loop_answers_and_is_cancelled() -> None:
    background = Background("a test")
    begun, ended = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()

    async def forever() -> None:
        here.call_soon_threadsafe(begun.set)
        try:
            await asyncio.Event().wait()
        finally:
            here.call_soon_threadsafe(ended.set)

    async def inner() -> str:
        return await background.ask(answer())

    async def answer() -> str:
        return "from there"

    assert await background.ask(inner()) == "from there"
    task = asyncio.create_task(background.ask(forever()))
    await begun.wait()
    task.cancel()
    await ended.wait()
    background.post(background.loop.stop)
