"""Which folder a server is started in for a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.servers.lsp.matrix.table import BUILTIN
from agents.servers.lsp.plan import root_of

ROWS = {row.id: row for row in BUILTIN}
NONE = "none"


def laid(folder: Path, *names: str) -> None:
    """Files; a name may be followed by `=` and its text."""
    for name in names:
        path, _, text = name.partition("=")
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.parametrize(
    ("row", "file", "there", "root"),
    [
        ("typescript", "packages/a/src/a.ts", ["package-lock.json", "packages/a/package.json"], "."),
        ("typescript", "packages/a/src/a.ts", ["packages/a/yarn.lock", "pnpm-lock.yaml"], "packages/a"),
        ("typescript", "packages/a/src/a.ts", ["packages/a/package.json"], "packages/a"),
        ("typescript", "src/a.ts", [], "."),
        ("typescript", "src/a.ts", ["deno.json"], NONE),
        ("typescript", "src/a.ts", ["deno.json", "package.json"], NONE),
        ("typescript", "web/a.ts", ["deno.json", "web/package-lock.json"], "web"),
        ("typescript", "tasks/a.ts", ["package-lock.json", "tasks/deno.jsonc"], NONE),
        ("deno", "src/a.ts", [], NONE),
        ("deno", "src/a.ts", ["deno.json", "package.json"], "."),
        ("deno", "web/a.ts", ["deno.json", "web/package-lock.json"], NONE),
        ("deno", "tasks/a.ts", ["package-lock.json", "tasks/deno.jsonc"], "tasks"),
        ("gopls", "a/cmd/a.go", ["go.work", "a/go.mod"], "."),
        ("gopls", "a/cmd/a.go", ["a/go.mod"], "a"),
        ("gopls", "a.go", [], "."),
        ("rust", "a.rs", [], NONE),
        ("rust", "crates/a/src/lib.rs", ["Cargo.toml=[workspace]", "crates/a/Cargo.toml=[package]"], "."),
        (
            "rust",
            "crates/a/src/lib.rs",
            ["Cargo.toml=[package]", "crates/a/Cargo.toml=[package]"],
            "crates/a",
        ),
        (
            "rust",
            "crates/a/src/lib.rs",
            ['Cargo.toml=[workspace]\nexclude = ["crates/a"]', "crates/a/Cargo.toml=[package]"],
            "crates/a",
        ),
        ("rust", "crates/a/src/lib.rs", ["Cargo.toml=not = [toml", "crates/a/Cargo.toml"], "crates/a"),
        ("ruff", "lib/deep/a.py", ["lib/pyproject.toml"], "lib"),
        ("basedpyright", "a.py", [], "."),
        ("biome", "src/a.ts", [], NONE),
        ("biome", "src/a.ts", ["biome.jsonc"], "."),
        ("eslint", "src/a.ts", ["src/eslint.config.mjs"], "src"),
        ("csharp", "app/deep/A.cs", ["app/App.csproj"], "app"),
        ("csharp", "app/deep/A.cs", ["All.sln", "app/App.csproj"], "."),
        ("jdtls", "app/src/A.java", ["settings.gradle.kts", "app/build.gradle"], "."),
        ("jdtls", "app/src/A.java", ["app/pom.xml"], "app"),
        ("esbonio", "docs/a.rst", ["docs/conf.py"], "docs"),
        (
            "prisma",
            "web/prisma/schema.prisma",
            ["web/prisma/schema.prisma", "web/package.json"],
            "web/prisma",
        ),
        ("ruff", "a.ts", ["pyproject.toml"], NONE),
    ],
)
def test_the_root_of_a_file(row: str, file: str, there: list[str], root: str, tmp_path: Path) -> None:
    laid(tmp_path, *there, file)
    expected = None if root == NONE else (tmp_path / root).resolve()
    assert root_of(ROWS[row], tmp_path / file, tmp_path) == expected


def test_nothing_above_the_worktree_counts(tmp_path: Path) -> None:
    worktree = tmp_path / "project"
    laid(tmp_path, "Cargo.toml=[workspace]", "deno.json", "go.work", "project/a.ts", "project/go.mod", "b.ts")
    assert root_of(ROWS["typescript"], worktree / "a.ts", worktree) == worktree
    assert root_of(ROWS["gopls"], worktree / "a.go", worktree) == worktree
    laid(worktree, "Cargo.toml=[package]")
    assert root_of(ROWS["rust"], worktree / "a.rs", worktree) == worktree
    assert root_of(ROWS["typescript"], tmp_path / "b.ts", worktree) is None
