"""What no linter holds of the house: no circle of folders, no hidden import, no dead reference."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("opencode_web", "agents", "sessions")
NAMED = re.compile(r"`(\w[\w./-]*(?:\.py|\.js|\.css|/))(?:: \w+)?`")
ELSEWHERE = {
    ("0001-packaging.md", "opencode_web/_app/"),  # of a wheel
    ("0001-packaging.md", "static/vendor/"),  # fetched
    ("0028-delivery.md", "text/"),  # of a media type
}


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


def folder_of(module: str) -> tuple[str, ...]:
    path = ROOT / module.replace(".", "/")
    return tuple(module.split(".") if path.is_dir() else module.split(".")[:-1])


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_no_circle_of_folders(depth: int) -> None:
    """A folder and what stands directly in it belong together; imports in functions count too."""
    graph = grimp.build_graph(*ROOMS, cache_dir=None)
    arrows: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for module in graph.modules:
        here = folder_of(module)[:depth]
        for other in graph.find_modules_directly_imported_by(module):
            there = folder_of(other)[:depth]
            shared = min(len(here), len(there))
            if here[:shared] != there[:shared]:
                arrows.setdefault(here, set()).add(there)
    TopologicalSorter(arrows).prepare()  # raises CycleError, which names the circle


def test_no_import_cycle() -> None:
    graph = grimp.build_graph(*ROOMS, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    order = list(TopologicalSorter(imports).static_order())  # raises CycleError, which names the cycle
    assert len(order) > len(ROOMS)


LATE = {
    "opencode_web/cli/acp.py": "the ACP SDK",
    "opencode_web/cli/arguments.py": "daphne and Twisted, a third of the start of commands that do not serve",
    "opencode_web/cli/setup.py": "the configuration and the database, which a word of help needs not",
    "opencode_web/cli/commands/nodes.py": "models that are there in a team alone",
    "opencode_web/cli/commands/people.py": "models that are there for people alone",
    "opencode_web/people/apps.py": "models: Django has to be set up",
    "opencode_web/cli/mcp.py": "the MCP SDK",
    "opencode_web/cli/start.py": "models: Django has to be set up",
    "opencode_web/cli/verbs.py": "models: Django has to be set up",
    "opencode_web/cli/worker.py": "models: Django has to be set up",
    "opencode_web/nodes/apps.py": "models: Django has to be set up",
    "opencode_web/site/middleware.py": "ninja, 160 ms of every start",
    "opencode_web/site/preview/previews.py": "aiohttp",
    "opencode_web/site/server.py": "autobahn",
    "agents/agent/schedules/files.py": "yaml, which a start without Markdown files needs not",
    "agents/config/reader.py": "yaml, which a start without Markdown files needs not",
    "agents/notifiers/formats.py": "cryptography",
    "agents/toolkit/skills.py": "yaml, which a start without Markdown files needs not",
    "agents/answers.py": "models and the sandbox, which the first page needs not",
    "agents/servers/lsp/client/link.py": "pygls",
    "agents/servers/mcp/hub.py": "the MCP SDK",
    "agents/servers/mcp/oauth/signing.py": "the MCP SDK",
}
"""Files that load one of ours only when it is used, and what comes with it that has to wait."""


def test_own_modules_are_imported_at_the_top() -> None:
    hidden = {
        f"{path.relative_to(ROOT)} {found}"
        for path in sources()
        if str(path.relative_to(ROOT)) not in LATE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for found in own_imports(node)
    }
    assert hidden == set()


def test_what_every_request_passes_loads_no_api() -> None:
    """The API's shapes take 160 ms to import: not before the first request for them."""
    code = (
        "import sys, django; django.setup(); import opencode_web.site.middleware; "
        "sys.exit('ninja' in sys.modules)"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    assert subprocess.run([sys.executable, "-c", code], env=environ, check=False).returncode == 0


HEAVY = {
    "aiohttp",
    "autobahn",
    "cattrs",
    "cryptography",
    "git",
    "litellm",
    "lsprotocol",
    "mcp",
    "ninja",
    "obstore",
    "openai",
    "psutil",
    "psycopg",
    "pygls",
    "tiktoken",
    "yaml",
}
"""Packages that take a tenth of a second or megabytes to load, and that a server may never need."""


def test_a_server_starts_without_what_it_may_never_need() -> None:
    code = (
        "import sys; from opencode_web.cli import setup, start; setup.prepare_django(); "
        "import opencode_web.asgi, opencode_web.site.background, opencode_web.urls, agents.agent.consumer; "
        "print(*sys.modules)"
    )
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "agents.agent.drain" in loaded.split()
    assert HEAVY & set(loaded.split()) == set()


def test_what_is_written_about_the_house_is_there() -> None:
    """Files and folders may be named by the end of their path."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    there = [Path("/", name) for name in listed if (ROOT / name).exists()]
    names = {str(path) for path in there} | {f"{folder}/" for path in there for folder in path.parents}
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md", *(ROOT / "docs/decisions").glob("*.md")]
    named = {(page.name, name) for page in pages for name in NAMED.findall(page.read_text())}
    named -= ELSEWHERE
    assert named
    assert not [(page, name) for page, name in named if not any(path.endswith(f"/{name}") for path in names)]
