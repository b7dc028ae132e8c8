"""`glob`, `grep` and `list` with the real ripgrep."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.base import Approval, Tool, ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionDenied
from agents.toolkit.permission.rules import Rule
from agents.toolkit.shared import ripgrep
from agents.tools import glob, grep
from agents.tools import list as tree
from tests.agents.tools.context import DirectContext


async def call(tool: Tool[Any], context: DirectContext, **arguments: Any) -> ToolResult:
    return await tool.execute(tool.input.model_validate(arguments), context)


def fill(root: Path, files: dict[str, str]) -> None:
    """Write the files, each a second newer than the one before."""
    for age, (name, content) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))


async def test_glob_newest_first_without_what_git_ignores(context: DirectContext) -> None:
    fill(
        context.worktree,
        {
            "old.py": "",
            "src/new.py": "",
            "a.md": "",
            ".git/x.py": "",
            "node_modules/y.py": "",
            "out/z.py": "",
            ".gitignore": "out/\n",
        },
    )
    result = await call(glob.TOOL, context, pattern="*.py")
    assert result.output == "src/new.py\nold.py\n(2 files)"
    assert (await call(glob.TOOL, context, pattern="**/*.py", path="src")).output == "src/new.py\n(1 file)"
    assert (await call(glob.TOOL, context, pattern="*.rs")).output == "(no files fit)"
    assert (context.asked[0].permission, context.asked[0].patterns) == ("glob", ("*.py",))


TREE = {
    "a.py": "needle",
    "b.js": "needle",
    "src/c.py": "needle",
    "src/deep/d.py": "needle",
    "src/odd,name.txt": "needle",
    "build/out.py": "needle\n" * 500,
    "src/secret.py": "needle",
    "keep.log": "needle",
    ".gitignore": "build/\nsecret.py\n*.log\n!keep.log\n",
}


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.py", "a.py src/c.py src/deep/d.py"),
        ("**/*.py", "a.py src/c.py src/deep/d.py"),
        ("**", "a.py b.js src/c.py src/deep/d.py src/odd,name.txt keep.log .gitignore"),
        ("*", "a.py b.js src/c.py src/deep/d.py src/odd,name.txt keep.log .gitignore"),
        ("*.log", "keep.log"),
        ("./*.py", "a.py"),
        ("./src/*.py", "src/c.py"),
        ("src/*.py", "src/c.py"),
        ("src/**", "src/c.py src/deep/d.py src/odd,name.txt"),
        ("ROOT/**/*.py", "a.py src/c.py src/deep/d.py"),
        ("ROOT/src/*.py", "src/c.py"),
        ("*.py,*.js", "a.py b.js src/c.py src/deep/d.py"),
        ("src/*.py, *.js", "b.js src/c.py"),
        ("*.{py,js}", "a.py b.js src/c.py src/deep/d.py"),
        ("{src/*,build/*}.py", "src/c.py"),
        ("odd,name.txt", "src/odd,name.txt"),
        ("!*.py", "b.js src/odd,name.txt keep.log .gitignore"),
        ("**/deep/**", "src/deep/d.py"),
        ("build/**", ""),
    ],
)
async def test_a_glob_finds_nothing_that_git_ignores(
    context: DirectContext, pattern: str, names: str
) -> None:
    fill(context.worktree, TREE)
    pattern = pattern.replace("ROOT", str(context.worktree))
    found = (await call(glob.TOOL, context, pattern=pattern)).output.split("\n")[:-1]
    assert sorted(found) == sorted(names.split())
    hits = (await call(grep.TOOL, context, pattern="needle", include=pattern)).output
    assert sorted(line[:-1] for line in hits.split("\n") if line.endswith(":")) == sorted(
        set(names.split()) - {".gitignore"}
    )


async def test_glob_says_its_limit_and_keeps_names_on_one_line(context: DirectContext) -> None:
    fill(context.worktree, {f"{number}.txt": "" for number in range(100)})
    assert "only the newest" not in (await call(glob.TOOL, context, pattern="*.txt")).output
    fill(context.worktree, {'new\n"<b>.txt': ""})
    (context.worktree / 'new\n"<b>.txt').touch()
    lines = (await call(glob.TOOL, context, pattern="*.txt")).output.split("\n")
    assert lines[0] == r'new\n"<b>.txt'
    assert len(lines) == 101
    assert "only the newest 100 of 101" in lines[-1]


async def test_grep_groups_by_file_newest_first(context: DirectContext) -> None:
    fill(
        context.worktree,
        {
            "old.py": "needle 1\nhay\nneedle 2\n",
            "b\n'q.py": "  needle 3\r\n",
            "c.md": "needle 4",
            "d.bin": "\0needle",
        },
    )
    result = await call(grep.TOOL, context, pattern=r"needle \d", include="*.py")
    assert (
        result.output
        == "b\\n'q.py:\n  1:   needle 3\n\nold.py:\n  1: needle 1\n  3: needle 2\n(3 lines in 2 files)"
    )
    assert result.metadata == {"matches": 3, "truncated": False}
    assert (context.asked[0].permission, context.asked[0].patterns) == ("grep", (r"needle \d",))
    assert (await call(grep.TOOL, context, pattern="-e", path="old.py")).output == "(no lines fit)"
    assert "needle 2" in (await call(grep.TOOL, context, pattern="needle", path="old.py")).output


async def test_grep_says_its_limit_only_when_there_is_more(context: DirectContext) -> None:
    fill(context.worktree, {f"{number}.txt": "needle\n" for number in range(100)})
    result = await call(grep.TOOL, context, pattern="needle")
    assert result.metadata == {"matches": 100, "truncated": False}
    fill(context.worktree, {"more.txt": "needle\n" * 500})
    result = await call(grep.TOOL, context, pattern="needle")
    assert result.metadata == {"matches": 100, "truncated": True}
    assert "only the first 100 lines" in result.output


async def test_grep_survives_lines_of_many_megabytes(context: DirectContext) -> None:
    fill(context.worktree, {"a.txt": f"needle {'x' * 5000}\n", "huge.txt": "needle " + "x" * 10_000_000})
    output = (await call(grep.TOOL, context, pattern="needle")).output
    assert "huge.txt:\n  ?: (a line too long to be shown)" in output
    assert "line cut at 2000 characters" in output
    assert len(output) < 10_000


async def test_of_a_long_line_what_was_found_is_shown(context: DirectContext) -> None:
    fill(context.worktree, {"a.js": f"{'é' * 5000}needle{'x' * 5000}\n", "b.js": f"{'x' * 5000}needle\n"})
    last, first = (await call(grep.TOOL, context, pattern="needle")).output.split("\n\n")
    assert last.endswith(f"[3006 characters ...] {'x' * 1994}needle")
    assert f"[4500 characters ...] {'é' * 500}needle{'x' * 1494} [... line cut at 2000 characters]" in first


async def test_grep_leaves_out_files_that_may_not_be_read(context: DirectContext) -> None:
    class Guarded(DirectContext):
        async def ask(self, permission: str, patterns: Any, **rest: Any) -> Approval:
            if permission == "read" and ".env" in patterns:
                raise PermissionDenied(Rule("read", "*.env", "deny"))
            return Approval()

    guarded = Guarded(context.directory, context.worktree, context.output_directory)
    fill(context.worktree, {".env": "KEY=secret", "a.txt": "KEY=public"})
    output = (await call(grep.TOOL, guarded, pattern="KEY")).output
    assert "public" in output
    assert "secret" not in output
    assert "1 files left out" in output


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (grep.TOOL, {"pattern": "("}, "unclosed group"),
        (grep.TOOL, {"pattern": "x", "include": "{a"}, "unclosed alternate group"),
        (glob.TOOL, {"pattern": "{a"}, "unclosed alternate group"),
        (grep.TOOL, {"pattern": "x", "path": "missing"}, "does not exist"),
        (glob.TOOL, {"pattern": "x", "path": "a.txt"}, "is a file"),
        (tree.TOOL, {"path": "missing"}, "does not exist"),
    ],
)
async def test_bad_searches_are_told(
    context: DirectContext, tool: Tool[Any], arguments: dict[str, str], words: str
) -> None:
    fill(context.worktree, {"a.txt": "x"})
    with pytest.raises(ToolError, match=words):
        await call(tool, context, **arguments)


async def test_list_shows_the_upper_levels_and_counts_the_rest(context: DirectContext) -> None:
    deep = {f"a/deep/{number:03d}.txt": "" for number in range(150)} | {
        "a/deep/er/still/x": "",
        "a/deep/er/y": "",
    }
    fill(context.worktree, {**deep, "b/x.txt": "", "top.txt": "", "node_modules/m.js": "", "c\nd/e.txt": ""})
    lines = (await call(tree.TOOL, context, ignore=["b"])).output.split("\n")
    assert lines[:3] == [f"{context.worktree}/", "  a/ (54 more files)", "    deep/ (54 more files)"]
    assert lines[3:5] == ["      er/ (2 more files)", "      000.txt"]
    assert lines[-4:] == [
        r"  c\nd/",
        "    e.txt",
        "  top.txt",
        "(100 of 154 files are shown: list a folder of them, or use glob)",
    ]
    assert not any("node_modules" in line or line == "  b/" for line in lines)


async def test_stopping_the_session_ends_a_search(context: DirectContext) -> None:
    pipe = context.worktree / "pipe"
    os.mkfifo(pipe)
    arguments = ["--json", "--regexp=x", "--", "pipe"]
    search = asyncio.create_task(
        ripgrep.run(context, arguments, cwd=context.worktree, separator=b"\n", limit=1)
    )
    # Opening the other end returns once rg has opened its own: it runs, and waits for ever.
    writer = await asyncio.to_thread(os.open, pipe, os.O_WRONLY)
    context.abort.set()
    with pytest.raises(ToolError, match="stopped"):
        await search
    with pytest.raises(BrokenPipeError):
        os.write(writer, b"x")
    os.close(writer)


async def test_a_missing_ripgrep_is_said(context: DirectContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(context.worktree / "python"))
    monkeypatch.setenv("PATH", str(context.worktree))
    with pytest.raises(ToolError, match="not installed"):
        await call(glob.TOOL, context, pattern="*")
