"""The rows of language servers, and what a configuration makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.config.schema import Config
from agents.servers.lsp.matrix import rows
from agents.servers.lsp.matrix.row import Package, Row
from agents.servers.lsp.matrix.table import BUILTIN
from tests.agents.servers.lsp.client.cases import CASES

ON = rows(Config(lsp=True))
DOCUMENT = Path(__file__).parents[4] / "docs" / "lsp.md"


def named(found: list[Row], row: str) -> Row:
    return next(one for one in found if one.id == row)


def test_every_row_is_whole() -> None:
    assert len(BUILTIN) >= 30
    assert len({row.id for row in BUILTIN}) == len(BUILTIN)
    for row in BUILTIN:
        assert all((row.language, row.files, row.commands, *row.commands)), row.id
        assert isinstance(row.install, Package) or row.install, row.id
        assert row.fallback or row.roots, row.id
        assert (row.named, row.own_command) == (False, False), row.id
        assert row.project_code or not row.code_in, row.id


@pytest.mark.parametrize(
    ("file", "ids"),
    [
        ("a.tsx", {"typescript", "deno", "eslint", "biome", "oxlint", "tailwindcss"}),
        ("a.vue", {"vue", "eslint", "biome", "oxlint", "tailwindcss"}),
        ("a.svelte", {"svelte", "eslint", "biome", "oxlint", "tailwindcss"}),
        ("a.astro", {"astro", "eslint", "biome", "oxlint", "tailwindcss"}),
        ("a.py", {"basedpyright", "pyright", "pyrefly", "ty", "ruff"}),
        ("a.go", {"gopls"}),
        ("a.rs", {"rust"}),
        ("a.CPP", {"clangd"}),
        ("A.java", {"jdtls"}),
        ("a.kt", {"kotlin-ls"}),
        ("a.cs", {"csharp"}),
        ("a.fs", {"fsharp"}),
        ("a.rb", {"ruby-lsp", "solargraph", "rubocop"}),
        ("a.php", {"php intelephense"}),
        ("a.ex", {"elixir-ls"}),
        ("a.zig", {"zls"}),
        ("a.lua", {"lua-ls"}),
        ("a.sh", {"bash"}),
        ("a.yml", {"yaml-ls"}),
        ("a.tf", {"terraform"}),
        ("a.dart", {"dart"}),
        ("a.swift", {"sourcekit-lsp"}),
        ("a.ml", {"ocaml-lsp"}),
        ("a.hs", {"haskell-language-server"}),
        ("a.clj", {"clojure-lsp"}),
        ("a.nix", {"nixd"}),
        ("a.gleam", {"gleam"}),
        ("Dockerfile", {"dockerfile"}),
        ("api.dockerfile", {"dockerfile"}),
        ("dockerfile", set()),
        ("a.css", {"css", "biome", "tailwindcss", "stylelint"}),
        ("a.json", {"json", "deno", "biome"}),
        ("a.html", {"html", "biome", "tailwindcss"}),
        ("a.md", {"markdown"}),
        ("a.toml", {"toml"}),
        ("a.tex", {"texlab"}),
        ("a.unknown", set()),
    ],
)
def test_files_have_their_servers(file: str, ids: set[str]) -> None:
    assert {row.id for row in BUILTIN if row.serves(file)} == ids


def test_opencode_s_ids_are_kept() -> None:
    """Its 1.18, but for `razor`, which needs an extension of an editor."""
    known = (
        "deno typescript vue eslint oxlint biome gopls ruby-lsp ty pyright elixir-ls zls csharp fsharp "
        "sourcekit-lsp rust clangd svelte astro jdtls kotlin-ls yaml-ls lua-ls prisma dart ocaml-lsp bash "
        "terraform texlab dockerfile gleam clojure-lsp nixd tinymist haskell-language-server julials"
    )
    assert {*known.split(), "php intelephense"} <= {row.id for row in BUILTIN}


def test_servers_are_off_unless_switched_on() -> None:
    assert rows(Config()) == rows(Config(lsp=False)) == []
    assert list(BUILTIN) == ON
    assert rows(Config(lsp={})) == list(BUILTIN), "an object switches them on, too"


def test_entries_change_rows() -> None:
    entries: dict[str, Any] = {
        "pyright": {"disabled": True},
        "ruff": {"command": ["my-ruff", "server"], "env": {"A": "b"}, "initialization": {"settings": {}}},
        "biome": {"initialization": {}},
    }
    found = rows(Config(lsp=entries))
    assert "pyright" not in {row.id for row in found}
    ruff, biome, gopls = (named(found, row) for row in ("ruff", "biome", "gopls"))
    assert (ruff.commands, ruff.own_command, ruff.files) == ((("my-ruff", "server"),), True, (".py", ".pyi"))
    assert (ruff.environment, dict(ruff.initialization)) == ((("A", "b"),), {"settings": {}})
    assert (biome.named, biome.fallback, biome.own_command) == (True, True, False), "it was asked for"
    assert not gopls.named


def test_settings_of_an_entry_lie_over_those_of_the_row() -> None:
    schemas = [{"fileMatch": ["a.json"], "url": "./a.schema.json"}]
    entries: dict[str, Any] = {
        "json": {"initialization": {"json": {"schemas": schemas}}},
        "css": {"initialization": {"css": {"validate": False}, "scss": None}},
    }
    found = rows(Config(lsp=entries))
    json, css = named(found, "json").initialization, named(found, "css").initialization
    assert json == {"json": {"validate": {"enable": True}, "schemas": schemas}}
    assert css == {"css": {"validate": False}, "scss": None, "less": {"validate": True}}
    assert named(ON, "css").initialization["css"] == {"validate": True}, "the table is as it was"


def test_own_servers_need_a_command_and_extensions() -> None:
    entries: dict[str, Any] = {
        "mine": {"command": ["mine"], "extensions": [".mine", "Minefile"]},
        "off": {"command": ["off"], "extensions": [".off"], "disabled": True},
        "nothing": {"command": ["nothing"]},
        "unknown": {"disabled": True},
    }
    found = {row.id: row for row in rows(Config(lsp=entries))}
    assert found.keys() - {row.id for row in BUILTIN} == {"mine"}
    assert all(map(found["mine"].serves, ("a.mine", "Minefile")))
    assert found["mine"].fallback


def test_the_document_has_the_table() -> None:
    assert table() in DOCUMENT.read_text("utf-8"), "run `python -m tests.agents.servers.lsp.test_matrix`"


def table() -> str:
    lines = ["| id | language | program | from | runs of the project | tried |", "|---|---|---|---|---|---|"]
    tried = {name.partition(":")[0] for name in CASES}
    for row in BUILTIN:
        programs = ", ".join(f"`{command[0]}`" for command in row.commands)
        code = row.project_code + (", where it has one" if row.code_in else "")
        told = "yes" if row.id in tried else ""
        lines.append(f"| `{row.id}` | {row.language} | {programs} | {_source(row)} | {code} | {told} |")
    return "\n".join(lines)


def _source(row: Row) -> str:
    if isinstance(row.install, Package):
        registry = {"npm": "npm", "pypi": "PyPI"}[row.install.registry]
        return f"{registry}: " + ", ".join(f"`{name}`" for name in row.install.names)
    return row.install.replace("|", "\\|")


if __name__ == "__main__":
    text = DOCUMENT.read_text("utf-8")
    start, end = text.index("| id |"), text.index("\n\n", text.index("| id |"))
    DOCUMENT.write_text(text[:start] + table() + text[end:], "utf-8")
