"""Where tests of language servers work, and with which."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.agents.tools.context import DirectContext
from tests.programs import pypi

Configured = Callable[..., DirectContext]
"""Takes the keys of a configuration."""

CODE = """\
def hello(name: str) -> str:
    times = 1
    return name * times


class Greeter:
    def greet(self) -> str:
        return hello("you")
"""
USER = 'from code_of import hello\n\nprint(hello("me"))\n'


def finder(*arguments: str) -> dict[str, Any]:
    """The server in `finder.py`, for files `*.find`."""
    program = str(Path(__file__).with_name("finder.py"))
    return {"finder": {"command": [sys.executable, program, *arguments], "extensions": [".find"]}}


def basedpyright(environ: Mapping[str, str]) -> dict[str, Any]:
    """A real server for Python."""
    program = pypi("basedpyright", "basedpyright-langserver", environ)
    return {"basedpyright": {"command": [str(program), "--stdio"], "extensions": [".py"]}}


def write(folder: Path, **files: str) -> None:
    """Python files by the names of their modules."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
