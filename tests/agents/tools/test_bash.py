from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agents.config.schema import Config
from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.defaults import BUILD, session_rules
from agents.toolkit.permission.errors import NotPermitted, PermissionRejected
from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox.terms import Terms
from agents.toolkit.shared import capture
from agents.toolkit.shared.output import MAX_BYTES, MAX_LINES
from agents.tools.bash import TOOL, BashInput, describe
from tests.agents.toolkit.skills.conftest import write_skill
from tests.agents.tools.context import DirectContext, turn_in


@pytest.fixture
def context(context: DirectContext) -> DirectContext:
    """With the rules that are there before anybody has set some."""
    rules = session_rules(BUILD, [])
    context.turn = turn_in(context.directory, context.worktree, rules=rules)
    return context


async def bash(context: DirectContext, command: str, **options: object) -> ToolResult:
    return await TOOL.execute(BashInput.model_validate({"command": command, **options}), context)


def limited(context: DirectContext, **limits: int) -> None:
    config = Config.model_validate({"limits": limits})
    context.turn = replace(context.turn, config=config)


def asks(context: DirectContext) -> list[tuple[str, tuple[str, ...]]]:
    return [(asked.permission, asked.patterns) for asked in context.asked]


async def printed(context: DirectContext, text: str) -> None:
    """Wait until the card shows `text`."""
    while not any(text in update["metadata"]["output"] for update in context.updates):
        context.updated.clear()
        await context.updated.wait()


async def ended(pid: int) -> None:
    """Wait until the process has ended."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    gone = asyncio.Event()
    asyncio.get_running_loop().add_reader(handle, gone.set)
    try:
        async with asyncio.timeout(10):
            await gone.wait()
    finally:
        asyncio.get_running_loop().remove_reader(handle)
        os.close(handle)


async def all_ended(folder: Path) -> None:
    """Wait until no process works in `folder`."""
    working: list[int] = []
    for cwd in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            working += [int(cwd.parent.name)] if cwd.readlink() == folder else []
    for pid in working:
        await ended(pid)


async def test_output_exit_code_and_card(context: DirectContext) -> None:
    result = await bash(context, "echo out; echo err >&2; pwd; exit 3", description="Say something")
    assert result.title == "Say something"
    assert result.output == f"out\nerr\n{context.directory}\n\n[Exit code 3]"
    assert result.metadata["exit"] == 3
    assert result.metadata["output"] == f"out\nerr\n{context.directory}\n"
    assert not result.bounded
    assert context.shells == 1
    assert context.updates[-1]["metadata"]["output"] == result.metadata["output"]


async def test_asks_for_each_command_with_its_always_pattern(context: DirectContext) -> None:
    await bash(context, "git --version && CI=1 ls -la | cat", description="Look")
    [asked] = context.asked
    assert asked.permission == "bash"
    assert asked.patterns == ("git --version", "ls -la", "cat")
    assert asked.always == ("git --version", "ls *", "cat *")
    assert asked.metadata == {
        "command": "git --version && CI=1 ls -la | cat",
        "description": "Look",
        "workdir": str(context.directory),
    }


async def test_folders_outside_are_asked_for_first(context: DirectContext, tmp_path: Path) -> None:
    await bash(context, "true > ../x", workdir=str(tmp_path))
    up = str(tmp_path.resolve())
    assert asks(context) == [
        ("external_directory", (f"{up}/*", f"{Path(up).parent}/*")),
        ("bash", ("true",)),
    ]


async def test_managed_output_files_may_be_read_without_asking(context: DirectContext) -> None:
    (context.output_directory / "tool_x.txt").write_text("whole")
    result = await bash(context, f"cat {context.output_directory}/tool_x.txt")
    assert result.output.strip() == "whole"
    assert [name for name, _ in asks(context)] == ["bash"]
    await bash(context, f"rm {context.output_directory}/tool_x.txt")
    assert [name for name, _ in asks(context)] == ["bash", "external_directory", "bash"]


@pytest.mark.parametrize(
    "line", ["echo '{}' > opencode.json", "mkdir -p .git/hooks", "touch a; ln -sf a .opencode"]
)
async def test_the_shell_is_no_way_around_the_guard_of_the_configuration(
    line: str, context: DirectContext
) -> None:
    context.decisions["edit"] = "reject"
    with pytest.raises(PermissionRejected):
        await bash(context, line)
    assert list(context.worktree.iterdir()) == []


async def test_what_lies_beside_a_skill_is_run_without_leaving_the_project(
    context: DirectContext, tmp_path_factory: pytest.TempPathFactory
) -> None:
    skills = tmp_path_factory.mktemp("skills")
    folder = write_skill(skills / "greet").parent
    (folder / "scripts").mkdir()
    script = folder / "scripts" / "hello.sh"
    script.write_text("echo hello from a skill\n")
    config = Config.model_validate({"skills": {"paths": [str(skills)]}})
    context.turn = replace(context.turn, config=config)
    assert "hello from a skill" in (await bash(context, f"sh {script}")).output
    assert "hello from a skill" in (await bash(context, "sh scripts/hello.sh", workdir=str(folder))).output
    assert [name for name, _ in asks(context)] == ["bash", "bash"]

    context.asked.clear()
    await bash(context, f"ls {skills}")
    await bash(context, f"echo x > {script}")
    asked = [patterns for name, patterns in asks(context) if name == "external_directory"]
    assert asked == [(f"{skills}/*",), (f"{script.parent}/*",)]

    context.asked.clear()
    rules = [*context.turn.rules, Rule("skill", "greet", "deny")]
    context.turn = replace(context.turn, rules=rules)
    await bash(context, f"sh {script}")
    assert ("external_directory", (f"{script.parent}/*",)) in asks(context)


@pytest.mark.parametrize("permission", ["bash", "external_directory"])
async def test_nothing_runs_when_it_is_not_allowed(permission: str, context: DirectContext) -> None:
    context.decisions[permission] = "deny"
    with pytest.raises(NotPermitted):
        await bash(context, "touch ../made made")
    assert list(context.worktree.iterdir()) == []
    assert context.shells == 0


async def test_environment(context: DirectContext, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENCODE_SERVER_PASSWORD", "OPENCODE_WEB_DIRECTORY", "OPENCODE_WEB_PRIVATE"):
        monkeypatch.setenv(name, "own")
    monkeypatch.setenv("KEPT", "yes")
    result = await bash(context, 'env | grep =own; echo "$KEPT/$TERM/$PAGER/$GIT_PAGER"; cat; tty')
    assert result.output.startswith("yes/dumb/cat/cat\nnot a tty")


async def test_workdir(context: DirectContext) -> None:
    (context.directory / "a b").mkdir()
    assert (await bash(context, 'basename "$PWD"', workdir="a b")).output == "a b\n"
    for bad in ("missing", "a\0b", "~nobody-has-this-name/x"):
        with pytest.raises(ToolError, match="folder to run in"):
            await bash(context, "ls", workdir=bad)
    context.directory.joinpath("a b").rmdir()
    context.directory.rmdir()
    with pytest.raises(ToolError, match="does not exist"):
        await bash(context, "ls")


async def test_bad_commands(context: DirectContext) -> None:
    with pytest.raises(ToolError, match="could not be started"):
        await bash(context, "echo a\0b")
    for bad in ({"command": ""}, {"command": "x" * 200_000}, {"command": "ls", "timeout": 0}):
        with pytest.raises(ValidationError):
            BashInput.model_validate(bad)
    result = await bash(context, "ls 'unclosed")
    assert result.metadata["exit"] == 2
    assert context.asked[-1].always == ()
    assert (await bash(context, "# nothing")).output == "(no output)"
    assert context.asked[-1].patterns == ("# nothing",)


# Each line starts a process that must not outlive the call.
TREES = [
    "echo pid=$$; sleep 1000",
    "(trap '' TERM; echo pid=$BASHPID; sleep 1000); true",
    "sh -c 'sleep 1000 & echo pid=$!; wait'; true",
    "setsid sh -c 'echo pid=$$; sleep 1000'; true",
    "(setsid sh -c 'echo pid=$$; exec sleep 1000' &); sleep 1000",
    "(setsid env -i sh -c 'echo pid=$$; sleep 1000; true'); true",
]


@pytest.mark.parametrize("line", TREES)
async def test_abort_ends_the_whole_tree(line: str, context: DirectContext) -> None:
    running = asyncio.create_task(bash(context, line))
    await printed(context, "pid=")
    context.abort.set()
    result = await running
    assert "Stopped by the user" in result.output
    await all_ended(context.worktree)


async def test_cancelling_ends_the_tree(context: DirectContext) -> None:
    running = asyncio.create_task(bash(context, TREES[3]))
    await printed(context, "pid=")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await all_ended(context.worktree)


class BrokenCard(DirectContext):
    """A context that cannot show progress any more."""

    async def update(self, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> None:
        await super().update(title=title, metadata=metadata)
        raise ConnectionError


async def test_a_failing_card_ends_the_tree_and_is_reported(context: DirectContext) -> None:
    broken = BrokenCard(context.directory, context.worktree, context.output_directory)
    with pytest.raises(ConnectionError):
        await bash(broken, TREES[0])
    await all_ended(context.worktree)


async def test_abort_before_the_start_runs_nothing(context: DirectContext) -> None:
    context.abort.set()
    result = await bash(context, "touch made")
    assert "Stopped by the user" in result.output
    assert list(context.worktree.iterdir()) == []


async def test_timeout_keeps_what_was_printed(context: DirectContext) -> None:
    result = await bash(context, "echo pid=$$; trap '' TERM; while :; do sleep 1000; done", timeout=500)
    assert "Stopped after 500 ms" in result.output
    await all_ended(context.worktree)


async def test_a_background_child_does_not_hold_the_call(context: DirectContext) -> None:
    result = await bash(context, "sleep 1000 & echo pid=$!")
    pid = int(result.metadata["output"].removeprefix("pid="))
    os.kill(pid, 9)  # raises when the call had ended it
    assert result.metadata["exit"] == 0


async def test_a_background_child_may_go_on_writing(context: DirectContext) -> None:
    result = await bash(
        context, "mkfifo go said; (read line < go; yes | head -c 200000 && echo told > said) & echo x"
    )
    assert result.metadata["output"] == "x\n"
    telling = "echo now > go; read -t 20 line < said; echo $line"
    assert (await bash(context, telling)).metadata["output"] == "told\n"


async def test_a_child_that_closes_its_output_is_waited_for(context: DirectContext) -> None:
    result = await bash(context, "mkfifo f; exec >&- 2>&-; (echo x > f) & read line < f; exit 7")
    assert result.metadata["exit"] == 7


async def test_odd_bytes(context: DirectContext) -> None:
    result = await bash(context, r"printf 'a\xff\0\xc3'; printf '\xa9\033[1m\xe2\x82'")
    assert result.output == "a\ufffd\ufffdé\033[1m\ufffd"


async def test_output_at_the_cap_stays_whole(context: DirectContext) -> None:
    result = await bash(context, f"head -c {MAX_BYTES} /dev/zero | tr '\\0' x")
    assert result.output == "x" * MAX_BYTES
    assert len(result.metadata["output"]) == capture.LIVE_BYTES
    assert not result.bounded
    assert list(context.output_directory.iterdir()) == []


async def test_ten_megabytes_in_one_line(context: DirectContext) -> None:
    size = 10 * 1024 * 1024
    result = await bash(context, f"printf start; head -c {size} /dev/zero | tr '\\0' x; printf end")
    [path] = context.output_directory.iterdir()
    assert path.stat().st_size == size + 8
    assert path.read_bytes().endswith(b"xend")
    assert path.stat().st_mode & 0o077 == 0
    assert result.metadata["outputPath"] == str(path)
    assert result.metadata["truncated"]
    assert result.bounded
    assert str(path) in result.output
    assert result.output.startswith("startxxx")
    assert result.output.endswith("xxxend")
    assert len(result.output.encode()) <= MAX_BYTES
    assert max(len(update["metadata"]["output"]) for update in context.updates) <= capture.LIVE_BYTES


async def test_a_timeout_is_in_milliseconds(context: DirectContext) -> None:
    result = await bash(context, "sleep 1000", timeout=30)
    assert result.output.endswith(
        "[Stopped after 30 ms: the time limit. `timeout` is in milliseconds: for 30 seconds give 30000.]"
    )


async def test_a_timeout_that_is_too_long_is_the_longest(context: DirectContext) -> None:
    limited(context, command_seconds=1)
    result = await bash(context, "echo begun; sleep 1000", timeout=36_000_000)
    assert result.output == ("begun\n\n[Stopped after 1000 ms: the time limit. No longer one is possible.]")
    assert result.metadata["limit"] == "timeout"
    assert "in milliseconds, at most 1000." in describe(context.turn)


EATER = "import time; held = bytearray(b'x') * 120 * 2**20; time.sleep(60)"
"""120 MB, for longer than the test lasts."""


async def test_a_command_ends_at_the_memory_limit_with_all_that_it_started(context: DirectContext) -> None:
    limited(context, command_memory=200)
    result = await bash(context, f'python3 -c "{EATER}" & python3 -c "{EATER}" & wait')
    assert "[Stopped as it held more than 200 MB of memory: the limit here." in result.output
    assert result.metadata["limit"] == "memory"
    await all_ended(context.directory)


async def test_memory_that_forks_share_counts_once(context: DirectContext) -> None:
    limited(context, command_memory=250)
    script = (
        "import os, time\n"
        "held = bytearray(b'x') * 120 * 2**20\n"
        "children = [os.fork() or (time.sleep(1.5), os._exit(0)) for _ in range(3)]\n"
        "[os.waitpid(child, 0) for child in children]\n"
        "print('shared')\n"
    )
    result = await bash(context, f'python3 -c "{script}"')
    assert result.output == "shared\n"
    assert "limit" not in result.metadata


async def test_a_command_ends_at_the_limit_of_processor_time(context: DirectContext) -> None:
    limited(context, command_cpu_seconds=1)
    result = await bash(context, "(while :; do :; done) & (while :; do :; done)")
    assert "[Stopped as it used more than 1 seconds of processor time" in result.output
    assert result.metadata["limit"] == "processor"
    await all_ended(context.directory)


async def test_many_lines_are_bounded_by_lines(context: DirectContext) -> None:
    result = await bash(context, "seq 1 20000; exit 1")
    lines = result.output.splitlines()
    assert len(lines) <= MAX_LINES
    assert lines[0] == "1"
    assert lines[-3] == "20000"
    assert lines[-1] == "[Exit code 1]"


async def test_what_is_over_the_file_cap_is_dropped_and_said_so(
    context: DirectContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 100_000)
    result = await bash(context, "head -c 300000 /dev/zero | tr '\\0' x; printf end")
    [path] = context.output_directory.iterdir()
    assert path.stat().st_size == 100_000
    assert "first 100000 bytes" in result.output
    assert result.output.endswith("xend")


async def test_the_file_cap_holds_for_the_first_piece_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 100_000)
    kept = capture.Capture(tmp_path)
    await kept.write(b"x" * 50_000)
    await kept.write(b"x" * 60_000)
    await kept.close()
    assert kept.path is not None
    assert kept.path.stat().st_size == 100_000


async def test_output_that_cannot_be_kept_does_not_fail_the_command(context: DirectContext) -> None:
    context.output_directory.rmdir()
    context.output_directory.write_text("in the way")
    result = await bash(context, "head -c 100000 /dev/zero | tr '\\0' x; printf end")
    assert result.metadata["exit"] == 0
    assert "outputPath" not in result.metadata
    assert "is lost" in result.output
    assert result.output.endswith("xend")


def test_the_model_sees_a_plain_schema() -> None:
    schema = TOOL.schema(turn_in(Path("/"), Path("/")))
    assert schema["required"] == ["command"]
    assert set(schema["properties"]) == {"command", "timeout", "workdir", "description"}
    confined = TOOL.schema(turn_in(Path("/"), Path("/"), terms=Terms(sandbox="offline")))
    assert set(confined["properties"]) - set(schema["properties"]) == {"outside"}
