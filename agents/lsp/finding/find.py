"""Looking for a language server's program."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from agents.lsp.finding.found import Found, Missing
from agents.lsp.finding.places import in_project, is_executable, is_ready, is_within, on_path, programs_of
from agents.lsp.finding.typescript import told, typescript_of, wants_typescript
from agents.lsp.matrix.row import Row


def find(row: Row, root: Path, worktree: Path) -> Found | Missing:
    """How to start a server in a root: from PATH, from our own folder, else from the project."""
    if row.own_command:
        return _configured(row, root, worktree)
    command = next(_commands(row, root, worktree), None)
    if command is None:
        return Missing(f"{row.commands[0][0]} was not found.")
    return _complete(row, command, root, worktree)


def installed(row: Row) -> Found | Missing:
    """What is in our own folder for a server, whether it is known to work or not."""
    for name, *rest in row.commands:
        program = programs_of(row) / name
        if is_executable(program):
            nowhere = programs_of(row)
            return _complete(row, (str(program), *rest), nowhere, nowhere)
    return Missing(f"The package has no program {row.commands[0][0]}.")


def _commands(row: Row, root: Path, worktree: Path) -> Iterator[tuple[str, ...]]:
    for name, *rest in row.commands:
        if program := on_path(name, worktree):
            yield str(program), *rest
    for name, *rest in row.commands:
        if is_ready(row) and is_executable(programs_of(row) / name):
            yield str(programs_of(row) / name), *rest
    for name, *rest in row.commands:
        if program := in_project(name, root, worktree):
            yield str(program), *rest


def _configured(row: Row, root: Path, worktree: Path) -> Found | Missing:
    """A command of the configuration. One that is given by a path is meant from the worktree."""
    name, *rest = row.commands[0]
    given = Path(name).expanduser()
    by_path = worktree / given if len(given.parts) > 1 else None
    found = str(by_path) if by_path and is_executable(by_path) else shutil.which(name)
    if found is None:
        return Missing(f"{name}, which the configuration names, was not found.")
    return _complete(row, (found, *rest), root, worktree)


def _complete(row: Row, argv: tuple[str, ...], root: Path, worktree: Path) -> Found | Missing:
    """With the TypeScript that the server is told of, and with what of the project would run."""
    program = Path(argv[0])
    code = [program] if is_within(program, worktree) and not row.own_command else []
    if not wants_typescript(row):
        return Found(argv, row.initialization, tuple(code))
    server = typescript_of(row, program, root, worktree)
    if server is None:
        return Missing("There is no TypeScript for it.")
    if is_within(server, worktree):
        code.append(server)
    return Found(argv, told(row, server), tuple(code))
