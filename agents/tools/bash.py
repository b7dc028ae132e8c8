"""The `bash` tool: a shell command in the project, asked for command by command."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from agents.config.limits import Limits, limits_of
from agents.plugins.calls import shell_variables
from agents.toolkit import scratch
from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.folders import is_read_only, located
from agents.toolkit.permission import planning
from agents.toolkit.permission.denials import uncertain
from agents.toolkit.permission.rules import evaluate
from agents.toolkit.permission.shell import ShellAnalysis, analyse
from agents.toolkit.sandbox import door
from agents.toolkit.sandbox.proxy import Place
from agents.toolkit.shared.capture import Capture
from agents.toolkit.shared.environment import shell_environment
from agents.toolkit.shared.paths import is_of_skill, is_scratch, read_pattern, relative
from agents.toolkit.shared.process import CannotStart, Ended
from agents.toolkit.turn import Turn
from sessions.core import variables
from sessions.core.store.added_folders import holding
from sessions.core.store.permissions.marks import UNCERTAIN

DEFAULT_TIMEOUT = variables.COMMAND_MILLISECONDS.whole()
LIMITS_REACHED = ("timeout", "memory", "processor")
SHORT_TIMEOUT = 1000
"""Milliseconds below which seconds were probably meant."""

DESCRIPTION = """\
Run a command in bash and return what it prints (stdout and stderr together).

- Every call is a new shell: `cd` and variables do not last. Use `workdir` instead of `cd`.
- Put quotes around paths that have blanks in them.
- `timeout` is in milliseconds{most}.
- There is no terminal and no input: give the options that keep a program from asking.
- A background process (`&`) should write to a file; what it says is lost once the shell has ended.
- Commands that depend on each other go into one call with `&&`; independent ones into calls of their own.
- Look with `read`, `glob` and `grep` rather than with cat, find and grep. Change files with `edit` and \
`write`, not with sed or echo. Change files with `apply_patch`, not with sed or echo.
- Output over {lines} lines or {size} is cut in the middle, and the whole kept in a file that is named: do \
not pipe it into head or tail, and do not run a command again to see the rest.

Git, when the person asks for it:
- To commit, look first, side by side: status, diff, and the log for its style. Stage by name what is \
meant, and nothing else; no secrets. Say in the message why. If a hook fails, mend what it found and make \
a new commit. Never `--no-verify`, `--amend` of a commit that is not yours or is pushed, force push, `-i`, \
or a change of git's configuration.
- For a pull request read all commits of the branch and its whole diff against the base, not the last \
commit alone; push, open it with `gh` or the forge's own tool, and give its address in the answer."""

CONFINED = """\
Commands run in a sandbox: they may write in the project, in /tmp (which is theirs alone) and in the caches \
of package managers, and nowhere else. {network} The person's keys are out of sight; git's hooks \
and configuration and the settings of agents and editors cannot be written. If that is why a command fails, \
run it again with `outside` and the reason, which asks the person; do not look for a way around. A server \
that you leave in the background is reached by your other commands, and by the person with a click."""
NETWORK = {
    "offline": "There is no network but a loopback that is the session's own.",
    "project": "The network is reached by HTTP and HTTPS alone, through the proxy that the environment names \
(for git use addresses of HTTPS); the person is asked about a host that no rule knows. The loopback is the \
session's own: nothing else of this machine is reached.",
}
"""What is told of it by mode."""


class BashInput(BaseModel):
    command: str = Field(min_length=1, max_length=100_000, description="The command line for bash.")
    timeout: int = Field(
        DEFAULT_TIMEOUT,
        gt=0,
        description=f"Milliseconds until it is stopped (default {DEFAULT_TIMEOUT}).",
    )
    workdir: str | None = Field(None, description="Folder to run in; default: the folder of the session.")
    description: str = Field(
        "", description="What it does, in five to ten words, for the person who reads along."
    )

    outside: str | None = Field(
        None,
        description="Why it has to run outside of the sandbox, if it failed for that. The person is asked.",
    )


@dataclass(slots=True)
class _Call:
    """One run: what was asked for and what has come of it."""

    input: BashInput
    ctx: ToolContext
    workdir: Path
    capture: Capture
    variables: Mapping[str, str]
    outside: bool
    ended: Ended | None = None

    async def run(self) -> None:
        try:
            self.ended = await door.run(
                [shell(), "-c", self.input.command],
                self.ctx.turn,
                cwd=self.workdir,
                env={**shell_environment(), **self.variables},
                timeout=self.input.timeout / 1000,
                abort=self.ctx.abort,
                on_output=self.take,
                ask=self._ask_to_reach,
                outside=self.outside,
            )
        except CannotStart as error:
            raise ToolError(f"The command could not be started: {error}") from error
        except door.Refused as error:
            raise ToolError(str(error)) from error
        finally:
            await asyncio.shield(self.capture.close())

    async def _ask_to_reach(self, permission: str, place: Place) -> None:
        about = {"command": self.input.command, "description": self.input.description}
        where = {"host": place.host, "port": place.port, "address": place.address}
        await self.ctx.ask(permission, [place.host], always=[place.host], metadata={**about, **where})

    async def take(self, chunk: bytes) -> None:
        await self.capture.write(chunk)
        await self.ctx.update(metadata={"output": self.capture.live(), "description": self.input.description})

    def result(self) -> ToolResult:
        ended = self.ended or Ended("aborted", None)
        text = self.capture.text() or "(no output)"
        if notes := _notes(ended, self.input.timeout, limits_of(self.ctx.turn.config)):
            text += ("\n" if text.endswith("\n") else "\n\n") + notes
        metadata: dict[str, Any] = {
            "output": self.capture.live(),
            "exit": ended.exit_code,
            "description": self.input.description,
        }
        if ended.ending in LIMITS_REACHED:
            metadata["limit"] = ended.ending
        if ended.sandbox:
            metadata["sandbox"] = ended.sandbox
        if self.capture.overflowed:
            metadata["truncated"] = True
        if self.capture.path:
            metadata["outputPath"] = str(self.capture.path)
        return ToolResult(
            title=self.input.description or self.input.command,
            output=text,
            metadata=metadata,
            bounded=self.capture.overflowed,
        )


async def execute(input: BashInput, ctx: ToolContext) -> ToolResult:
    """Ask, run, report. A command that fails is a result, not an error: the model reads its exit code."""
    if str(scratch.folder(ctx.output_directory, ctx.session_id)) in input.model_dump_json():
        await asyncio.to_thread(scratch.made, ctx.output_directory, ctx.session_id)
    workdir = _workdir(input.workdir, ctx)
    await _ask(input, workdir, ctx)
    outside = input.outside is not None and await _ask_to_leave(input, workdir, ctx)
    variables = await shell_variables(ctx.turn, workdir, ctx.call_id)
    call = _Call(input, ctx, workdir, Capture(ctx.output_directory), variables, outside)
    await ctx.around_shell(call.run)
    return call.result()


def _workdir(given: str | None, ctx: ToolContext) -> Path:
    try:
        named = located(ctx.turn.folders, ctx.directory, Path(given or ".").expanduser())
        folder = (ctx.directory / named).resolve()
        usable = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # a name too long, a loop of links, a NUL
        raise ToolError(f"The folder to run in cannot be used: {error}") from error
    if not usable:
        raise ToolError(f"The folder to run in does not exist or is not a folder: {folder}")
    return folder


async def _ask(input: BashInput, workdir: Path, ctx: ToolContext) -> None:
    metadata = {"command": input.command, "description": input.description, "workdir": str(workdir)}
    analysis = analyse(input.command, workdir, ctx.worktree)
    for path in analysis.written:
        added = holding(ctx.turn.folders, path)
        if added and not added.write:
            raise ToolError(is_read_only(added, str(path)))
    confined = ctx.turn.terms.sandbox != "off" and input.outside is None
    if external := await asyncio.to_thread(_external, analysis, workdir, ctx, confined=confined):
        patterns = [str(folder / "*") for folder in external]
        await ctx.ask("external_directory", patterns, always=patterns, metadata=metadata)
    for permission, paths in (("read", analysis.read), ("edit", analysis.written)):
        if held := _held(permission, paths, ctx):
            await ctx.ask(permission, held, always=held, metadata=metadata)
    commands = [command.text for command in analysis.commands] or [input.command.strip()]
    always = [command.always for command in analysis.commands if command.always]
    for command in uncertain(analysis, ctx.turn.rules):
        commands.append(UNCERTAIN + command.text)
        always += [UNCERTAIN + command.text] if command.always == command.text else []
    if marked := planning.marked(input.command, analysis, ctx.turn.rules):
        commands, always = [*commands, *marked], []
    rules = planning.knowing(ctx.turn.rules, analysis)
    patterns, always = list(dict.fromkeys(commands)), list(dict.fromkeys(always))
    await ctx.ask("bash", patterns, always=always, metadata=metadata, rules=rules)


async def _ask_to_leave(input: BashInput, workdir: Path, ctx: ToolContext) -> bool:
    """Whether it runs outside of a sandbox that there is."""
    if ctx.turn.terms.sandbox == "off":
        return False
    metadata = {"command": input.command, "description": input.description, "workdir": str(workdir)}
    asked = [input.command.strip()]
    await ctx.ask("sandbox", asked, always=asked, metadata={**metadata, "reason": input.outside or ""})
    return True


def _external(analysis: ShellAnalysis, workdir: Path, ctx: ToolContext, *, confined: bool) -> list[Path]:
    """Folders outside of the worktree; reading managed output files is always fine, what lies beside a skill
    may be run as well, and so is what is done in an added folder that may be written, or by a line that the
    sandbox keeps from writing there, or that is known to only read. Blocks."""
    folders = list(analysis.external)
    if not workdir.is_relative_to(ctx.worktree.resolve()):
        folders.insert(0, workdir)
    outputs = ctx.output_directory.resolve()
    written = any(path.is_relative_to(outputs) for path in analysis.written)
    asked = [folder for folder in dict.fromkeys(folders) if written or folder != outputs]
    reads = confined or planning.reads_only(analysis)
    lent = [folder for folder in ctx.turn.folders if reads or folder.write]
    return [
        folder
        for folder in asked
        if not (is_scratch(ctx, folder) or holding(lent, folder) or _is_run(folder, analysis, ctx))
    ]


def _is_run(folder: Path, analysis: ShellAnalysis, ctx: ToolContext) -> bool:
    """Whether it is a skill's, and the line is not known to write there."""
    return is_of_skill(ctx, folder) and not any(path.is_relative_to(folder) for path in analysis.written)


def _held(permission: str, paths: Sequence[Path], ctx: ToolContext) -> list[str]:
    """Of the paths that the line reads or writes those that the rules of `read` or `edit` do not allow: the
    shell must not be the way around them."""
    names = [read_pattern(ctx, path) for path in paths]
    if permission == "edit":
        within = ((path, holding(ctx.turn.folders, path)) for path in paths)
        names += [relative(path, added.path) for path, added in within if added]
    return [name for name in names if evaluate(permission, name, ctx.turn.rules).action != "allow"]


def _notes(ended: Ended, timeout: int, limits: Limits) -> str:
    """How it ended, where that is worth a word, and what the sandbox kept it from."""
    kept = [
        f"[The sandbox did not let it {verb}: {', '.join(names)}.]"
        for verb, names in (("reach", ended.refused), ("write", ended.unwritten))
        if names
    ]
    return " ".join(filter(None, (_ending(ended, timeout, limits), *kept)))


def _ending(ended: Ended, timeout: int, limits: Limits) -> str:
    if ended.ending == "timeout":
        most = limits.command_seconds and limits.command_seconds * 1000
        advice = "Give a longer timeout if it needs one."
        if most and timeout >= most:
            timeout, advice = most, "No longer one is possible."
        elif timeout < SHORT_TIMEOUT:
            advice = f"`timeout` is in milliseconds: for {timeout} seconds give {timeout * 1000}."
        return f"[Stopped after {timeout} ms: the time limit. {advice}]"
    if ended.ending == "memory":
        held = f"more than {limits.command_memory:,} MB of memory"
        return f"[Stopped as it held {held}: the limit here. Do it in smaller parts, or with fewer at once.]"
    if ended.ending == "processor":
        used = f"more than {limits.command_cpu_seconds:,} seconds of processor time"
        return f"[Stopped as it used {used}: the limit here. Do it in smaller parts, or with less to do.]"
    if ended.ending == "aborted":
        return "[Stopped by the user before it ended.]"
    if ended.exit_code is not None and ended.exit_code < 0:
        return f"[Ended by signal {-ended.exit_code}.]"
    return f"[Exit code {ended.exit_code}]" if ended.exit_code else ""


def shell() -> str:
    return shutil.which("bash", path="/bin:/usr/bin:/usr/local/bin") or shutil.which("bash") or "/bin/sh"


def describe(turn: Turn) -> str:
    """With the limits of output that hold, and what a confined command cannot do."""
    most, output = limits_of(turn.config).command_seconds, turn.config.tool_output
    text = DESCRIPTION.format(
        lines=output.max_lines,
        size=f"{output.max_bytes // 1024} KB",
        most=f", at most {most * 1000}" if most else "",
    )
    network = NETWORK.get(turn.terms.sandbox)
    return f"{text}\n\n{CONFINED.format(network=network)}" if network else text


def _without(turn: Turn) -> Sequence[str]:
    return ("outside",) if turn.terms.sandbox == "off" else ()


TOOL = Tool("bash", DESCRIPTION, BashInput, execute, "bash", describe=describe, without=_without)
