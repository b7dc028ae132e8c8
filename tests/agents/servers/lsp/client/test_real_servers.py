"""Language servers that nobody here wrote: each finds a real error in a real file, and sees it mended, by
what the table has it told.

Of those that the button installs these are not here: fish-lsp and purescript-language-server, which want fish
and PureScript; Vue's, of which npm fetches a part by git; esbonio, robotcode, cmake-language-server,
nginx-language-server, systemd-language-server and Solidity's, which find nothing in a single file; oxlint,
which finds nothing until it has looked at one; Astro's and Elm's, which say that there is nothing first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.config.schema import Config
from agents.servers.lsp.client.client import Client
from agents.servers.lsp.finding import told
from agents.servers.lsp.matrix import rows
from tests.agents.servers.lsp.client.cases import CASES, Case

pytestmark = pytest.mark.long

WITHIN = 60.0
WITHOUT_HOVER = {"eslint", "biome", "stylelint"}


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
    argv = case.argv(user_environ)
    if case.modules:
        (tmp_path / "node_modules").symlink_to(Path(argv[0]).parents[1])
    client = await Client.start(server, argv, tmp_path, environ, _settings(server, case, Path(argv[0])))
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
        assert client.can("textDocument/hover") == (server not in WITHOUT_HOVER)
        if server not in WITHOUT_HOVER:
            place = {"textDocument": {"uri": path.as_uri()}, "position": {"line": 0, "character": 0}}
            await client.request("textDocument/hover", place, WITHIN)
    finally:
        await client.end()
    assert client.reason == "it was not needed any longer"


def _settings(server: str, case: Case, program: Path) -> Mapping[str, Any]:
    """As the table has them, and the configuration adds to them."""
    entry: Any = {"initialization": dict(case.settings)}
    name = server.partition(":")[0]
    [row] = [row for row in rows(Config(lsp={name: entry})) if row.id == name]
    return told(row, program.parents[1] / "typescript" / "lib" / "tsserver.js")
