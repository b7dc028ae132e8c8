"""`opencode-web plugin`: the plugins and custom tools of a folder, loaded or not."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from agents.config.configuration import load
from agents.config.javascript import lacking
from agents.config.trust.code import CodeFile, code_files
from agents.config.trust.wants import HOW
from agents.plugins.javascript.packages import packages_of
from agents.plugins.loaded import installed
from opencode_web.cli.terminal import complain, say, table
from sessions.core import variables

_SHOWN = ("plugin", "tool")


def listing(arguments: argparse.Namespace, directory: Path) -> None:
    if variables.PURE.is_true():
        complain(f"{variables.PURE.name} is set: no plugin is loaded.")
    rows = list(_rows(directory))
    if rows:
        table(("Kind", "From", "State"), rows)
    else:
        say("There are no plugins and no custom tools here.")


def _rows(directory: Path) -> Iterator[tuple[str, str, str]]:
    """In the order they are loaded, those that never are last."""
    yield from (("plugin", point.value, "loaded") for point in installed())
    known = load(directory)
    yield from (("plugin", f"{one.name}@{one.version}", "loaded") for one in packages_of(known.config))
    yield from ((file.kind, file.name, _state(file)) for file in code_files(directory) if file.kind in _SHOWN)
    yield from (
        ("OpenCode's", str(item.file), item.message)
        for item in known.unused
        if item.level == "warning" and item.key
    )


def _state(file: CodeFile) -> str:
    if file.problem:
        return f"not loaded: {file.problem}"
    if not file.in_python and (problem := lacking(file.path.suffix)):
        return f"not loaded: {problem}"
    if broken := next((module for module in file.modules if module.problem), None):
        return f"not loaded: {broken.name}: {broken.problem}"
    return "loaded" if file.runs else f"waits until you trust it {HOW}"
