"""Language servers that nobody here wrote: each finds a real error in a real file, and sees it mended."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.types import ERROR, Severity
from tests.programs import apt, npm, pypi

pytestmark = pytest.mark.long

WITHIN = 60.0


Environ = Mapping[str, str]


@dataclass(frozen=True)
class Case:
    """A file with an error in a line (from 0) that goes when `good` takes the place of `bad`."""

    argv: Callable[[Environ], list[str]]
    name: str
    text: str
    bad: str
    good: str
    line: int
    words: str
    severity: Severity = ERROR
    beside: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def _npm(package: str, argument: str) -> Callable[[Environ], list[str]]:
    return lambda environ: [str(npm(package, package, environ)), argument]


CASES = {
    "basedpyright": Case(
        lambda environ: [str(pypi("basedpyright", "basedpyright-langserver", environ)), "--stdio"],
        "a.py",
        "def twice(of: int) -> int:\n    return str(of)\n",
        bad="str(of)",
        good="of * 2",
        line=1,
        words='"str" is not assignable to "int"',
    ),
    "ruff": Case(
        lambda _: [str(Path(sys.executable).with_name("ruff")), "server"],
        "a.py",
        "x = 1\nprint(y)\n",
        bad="y",
        good="x",
        line=1,
        words="Undefined name `y`",
    ),
    "typescript": Case(
        _npm("typescript-language-server", "--stdio"),
        "a.ts",
        'export const count: number = "one";\n',
        bad='"one"',
        good="1",
        line=0,
        words="'string' is not assignable",
    ),
    # Without shellcheck it finds nothing by itself but files that cannot be read in.
    "bash": Case(
        _npm("bash-language-server", "start"),
        "a.sh",
        "set -e\n. ./none.sh\n",
        bad="none",
        good="some",
        line=1,
        words="failed to resolve",
        severity=3,
        beside={"some.sh": "true\n"},
        settings={"bashIde": {"enableSourceErrorDiagnostics": True}},
    ),
    "yaml": Case(
        _npm("yaml-language-server", "--stdio"),
        "a.yaml",
        "a: [1\nb: 2\n",
        bad="[1",
        good="[1]",
        line=1,
        words="Flow sequence",
    ),
    "clangd": Case(
        lambda _: [str(apt("clangd"))],
        "a.c",
        "int main(void) {\n  return none;\n}\n",
        bad="none",
        good="0",
        line=1,
        words="undeclared identifier 'none'",
    ),
    "gopls": Case(
        lambda _: [str(apt("gopls"))],
        "a.go",
        "package main\n\nfunc main() {\n\tnone()\n}\n",
        bad="none()",
        good="",
        line=3,
        words="none",
        beside={"go.mod": "module example.org/a\n\ngo 1.19\n"},
    ),
}


@pytest.mark.parametrize("server", CASES)
async def test_an_error_is_found_and_seen_to_go(
    tmp_path: Path, user_environ: dict[str, str], server: str
) -> None:
    case = CASES[server]
    wrong, right = case.text, case.text.replace(case.bad, case.good)
    for name, text in case.beside.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / case.name
    environ = {**os.environ, "PATH": user_environ["PATH"], "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    client = await Client.start(server, case.argv(user_environ), tmp_path, environ, case.settings)
    try:
        for _ in range(2):
            path.write_text(wrong)
            version = client.open(path, wrong.encode())
            found = await client.diagnostics(path, version, WITHIN)
            [one] = [problem for problem in found if case.words in problem.message]
            assert (one.range.start.line, one.severity, one.server) == (case.line, case.severity, server)
            path.write_text(right)
            version = client.change(path, right.encode())
            assert await client.diagnostics(path, version, WITHIN) == ()
        place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 0}}
        assert client.can("textDocument/hover")
        await client.request("textDocument/hover", place, WITHIN)
    finally:
        await client.end()
    assert client.reason == "it was not needed any longer"
