"""The figures of the house that no linter holds: no import cycle, no hidden import, no endless file."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("opencode_web", "agents", "sessions")
LONGEST_FILE = 350


def sources() -> list[Path]:
    return [path for room in ROOMS for path in (ROOT / room).rglob("*.py") if "migrations" not in path.parts]


def own_imports(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level or module.partition(".")[0] in ROOMS:
                yield f"line {node.lineno}: {'.' * node.level}{module}"
        elif isinstance(node, ast.Import):
            yield from (
                f"line {node.lineno}: {alias.name}"
                for alias in node.names
                if alias.name.partition(".")[0] in ROOMS
            )


def test_no_import_cycle() -> None:
    graph = grimp.build_graph(*ROOMS, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError, which names the cycle
    assert len(order) > len(ROOMS)


def test_own_modules_are_imported_at_the_top() -> None:
    hidden = [
        f"{path.relative_to(ROOT)} {found}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for found in own_imports(node)
    ]
    assert hidden == []


def test_files_stay_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources()}
    assert {path: lines for path, lines in lengths.items() if lines > LONGEST_FILE} == {}


def test_what_every_request_passes_loads_no_api() -> None:
    """The API's shapes take 160 ms to import: not before the first request for them."""
    code = (
        "import sys, django; django.setup(); import opencode_web.middleware; sys.exit('ninja' in sys.modules)"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    assert subprocess.run([sys.executable, "-c", code], env=environ, check=False).returncode == 0
