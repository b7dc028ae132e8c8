"""Which changes of files a language server is told of."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.servers.lsp.client.watching import CHANGED, CREATED, DELETED, Change, Tree, Watch, parse

ROOT = Path("/p")


@pytest.mark.parametrize(
    ("glob", "matched", "others"),
    [
        ("**/*.py", ["a.py", "x/y/a.py", "x/.py"], ["a.pyi", "apy"]),
        ("*.py", ["a.py"], ["x/a.py"]),
        ("**", ["a", "x/y"], []),
        ("src/**", ["src/a", "src/x/y"], ["src", "a"]),
        ("**/src/**/*.ts", ["src/a.ts", "x/src/y/z.ts"], ["srcs/a.ts"]),
        ("**/{package,tsconfig*}.json", ["package.json", "x/tsconfig.base.json"], ["pack.json"]),
        ("**/*.{c,h}{,pp}", ["a.c", "a.hpp"], ["a.cp"]),
        ("?.[ab]", ["x.a", "y.b"], ["xx.a", "x.c"]),
        ("?.[!ab]", ["x.c"], ["x.a"]),
        ("a,b", ["a,b"], ["a"]),
        ("/p/abs/*.go", ["abs/a.go"], ["a.go"]),
        ({"baseUri": "file:///p/in", "pattern": "*.rs"}, ["in/a.rs"], ["a.rs", "in/x/a.rs"]),
        ({"baseUri": {"uri": "file:///p/in", "name": "in"}, "pattern": "**/a"}, ["in/a", "in/x/a"], ["a"]),
    ],
)
def test_patterns(glob: Any, matched: Sequence[str], others: Sequence[str]) -> None:
    found = parse(glob, ROOT)
    assert found is not None
    assert [path for path in (*matched, *others) if found.matches(ROOT / path)] == [*matched]


@pytest.mark.parametrize(
    "glob", [None, 5, {}, {"pattern": "*"}, {"baseUri": "x:", "pattern": "*"}, "{a", "x" * 1001]
)
def test_what_is_no_pattern(glob: Any) -> None:
    assert parse(glob, ROOT) is None


def kinds(changes: Sequence[Change], root: Path) -> dict[str, int]:
    return {str(change.path.relative_to(root)): change.kind for change in changes}


def test_what_git_ignores_is_not_told_of(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("out/\n")
    (tmp_path / "out").mkdir()
    (tmp_path / "a.py").write_text("")
    tree = Tree(tmp_path)
    (tmp_path / "out/x.py").write_text("")
    (tmp_path / "a.py").write_text("1")
    assert kinds(tree.changes(), tmp_path) == {"a.py": CHANGED}
    (tmp_path / ".gitignore").write_text("")
    (tmp_path / "b.py").write_text("")
    (tmp_path / "a.py").unlink()
    found = kinds(tree.changes(), tmp_path)
    assert found == {".gitignore": CHANGED, "b.py": CREATED, "a.py": DELETED, "out/x.py": CREATED}
    (tmp_path / "out/x.py").write_text("2")
    assert kinds(tree.changes(), tmp_path) == {"out/x.py": CHANGED}
    (tmp_path / ".gitignore").write_text("none\n")
    (tmp_path / "b.py").write_text("changed together with the rules")
    assert kinds(tree.changes(), tmp_path) == {".gitignore": CHANGED, "b.py": CHANGED}


def test_a_file_that_is_replaced_has_changed(tmp_path: Path) -> None:
    link = tmp_path / "link"
    root = tmp_path / "root"
    root.mkdir()
    link.symlink_to(root)
    (root / "a.py").write_text("")
    tree = Tree(link)
    (root / ".a.py.tmp").write_text("1")
    (root / ".a.py.tmp").rename(root / "a.py")
    assert kinds(tree.changes(), link) == {"a.py": CHANGED}
    assert tree.changes() == []


async def test_one_watch_for_all_servers_of_a_folder(tmp_path: Path) -> None:
    first: list[str] = []
    second: list[str] = []
    watch = Watch.of(tmp_path)
    assert Watch.of(tmp_path) is watch

    def to_first(changes: Sequence[Change]) -> None:
        first.extend(change.path.name for change in changes)

    def to_second(changes: Sequence[Change]) -> None:
        second.extend(change.path.name for change in changes)

    await watch.listen(to_first)
    await watch.listen(to_second)
    (tmp_path / "a.py").write_text("")
    await watch.flush()
    watch.leave(to_first)
    (tmp_path / "b.py").write_text("")
    await watch.flush()
    watch.leave(to_second)
    await watch.flush()
    assert (first, second) == (["a.py"], ["a.py", "b.py"])
    assert Watch.of(tmp_path) is not watch
