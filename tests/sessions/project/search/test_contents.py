"""Search in what files hold, and what comes of replacing it: one search decides both."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.project.search import SearchFailed
from sessions.project.search.contents import Asked, FileHits, find, replaced, stream


def found(folder: Path, asked: Asked) -> dict[str, FileHits]:
    return {file.path: file for file in find(folder, asked)}


def after(folder: Path, asked: Asked) -> dict[str, bytes]:
    """What files hold once all is replaced."""
    return {
        path: replaced((folder / path).read_bytes(), file.hits) for path, file in found(folder, asked).items()
    }


@pytest.mark.parametrize(
    ("content", "asked", "made"),
    [
        (b"a.b A.B axb\n", Asked("a.b", replacement="$1"), b"$1 $1 axb\n"),
        (b"a.b A.B axb\n", Asked("a.b", case=True, replacement="c"), b"c A.B axb\n"),
        (b"a.b axb\n", Asked("a.b", regex=True, replacement="c"), b"c c\n"),
        (b"one two\n", Asked(r"(\w+) (\w+)", regex=True, replacement="$2 $1"), b"two one\n"),
        (b"cat cats\n", Asked("cat", word=True, replacement="dog"), b"dog cats\n"),
        (b"one\r\ntwo\r\n", Asked("one", replacement="1"), b"1\r\ntwo\r\n"),
        (b"no end", Asked("end", replacement="END"), b"no END"),
        (b"\xef\xbb\xbfone\n", Asked("one", replacement="1"), b"\xef\xbb\xbf1\n"),
        (b"caf\xe9 one\n", Asked("one", replacement="1"), b"caf\xe9 1\n"),
        (b"a\nb\nc\n", Asked("a\nb", replacement="x"), b"x\nc\n"),
        ("naïve ünï\n".encode(), Asked("ünï", replacement="u"), "naïve u\n".encode()),
    ],
)
def test_what_is_found_is_replaced_where_it_stands(
    tmp_path: Path, content: bytes, asked: Asked, made: bytes
) -> None:
    (tmp_path / "file").write_bytes(content)
    assert after(tmp_path, asked) == {"file": made}


def test_files_are_chosen_by_globs_and_by_what_git_ignores(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("built\n")
    for name in ("src/a.py", "src/b.js", "tests/a.py", "built/a.py", ".hidden.py", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    assert found(tmp_path, Asked("needle")).keys() == {"src/a.py", "src/b.js", "tests/a.py", ".hidden.py"}
    only = Asked("needle", include=("*.py",), exclude=("tests/**",))
    assert found(tmp_path, only).keys() == {"src/a.py", ".hidden.py"}


def test_binary_files_and_hostile_patterns(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"needle\0needle")
    (tmp_path / "--files").write_text("needle\n")
    assert found(tmp_path, Asked("needle")).keys() == {"--files"}
    (tmp_path / "--files").write_text("--files -e x\n")
    assert found(tmp_path, Asked("--files")).keys() == {"--files"}
    with pytest.raises(SearchFailed):
        found(tmp_path, Asked("(", regex=True))


def test_a_file_that_changed_is_not_replaced_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("one\n")
    (hits,) = (file.hits for file in find(tmp_path, Asked("one", replacement="1")))
    with pytest.raises(ValueError, match="1"):
        replaced(b"two\none\n", hits)


async def test_a_search_that_nobody_waits_for_ends(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"f{number}").write_text("needle\n" * 20)
    searching = stream(tmp_path, Asked("needle"))
    assert len((await anext(searching)).hits) == 20
    await searching.aclose()
    assert len([file async for file in stream(tmp_path, Asked("needle"))]) == 250, "so many lines at once"
