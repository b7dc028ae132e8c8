"""Which files a few letters mean, and that names which are kept are those of this moment."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from sessions.project.search import SearchFailed, listing, rank
from sessions.project.search.listing import Kept

NAMES = ["docs/user/readme.md", "src/user.py", "other/superuser.py", "unrelated.txt", "u/s/e/r^].txt"]


def test_the_own_name_of_a_file_comes_first() -> None:
    assert rank(NAMES, "User", 4) == ["src/user.py", "other/superuser.py", "docs/user/readme.md", NAMES[4]]


def test_letters_that_mean_something_to_a_regular_expression_are_letters() -> None:
    assert rank(NAMES, "us^]", 5) == [NAMES[4]]
    assert rank(NAMES, ".*", 5) == []


def test_a_long_query_does_not_go_back_and_forth() -> None:
    assert rank(["a" * 4000], "a" * 200 + "b", 5) == []


def test_it_ranks_as_one_name_after_the_other_does() -> None:
    letters = random.Random(1).choices("ab/\n", [9, 9, 9, 1], k=4000)
    names = list({"".join(letters[at : at + at % 7]).strip("/") for at in range(0, 4000, 4)})
    for query in ("a", "ab", "b/a", "bab", "a\0", "abababab", "a\nb", "b\na"):
        expected = sorted((plainly(name, query), len(name), name) for name in names)
        best = [name for score, _, name in expected if score < 4]
        assert rank(names, query, 20) == best[:20], query


def plainly(path: str, query: str) -> int:
    name, letters = path.rpartition("/")[2], iter(path)
    if name.startswith(query):
        return 0
    if query in name:
        return 1
    if query in path:
        return 2
    return 3 if all(letter in letters for letter in query) else 4


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()
    return tmp_path


@pytest.mark.proc
def test_names_are_listed_once_while_only_contents_change(repository: Path) -> None:
    kept = Kept(repository)
    first = kept.listing()
    (repository / "src" / "a.py").write_text("more")
    (repository / "a.log").write_text("ignored")
    second = kept.listing()  # the ignored file was new
    (repository / "a.log").write_text("again")
    (repository / ".git" / "description").touch()
    assert kept.listing() is second
    assert first.files == second.files == {".gitignore", "src/a.py"}


def test_a_name_that_came_and_went_is_found_when_it_stays(repository: Path) -> None:
    kept = Kept(repository)
    kept.listing()
    passing = repository / "src" / "b.py"
    passing.touch()
    passing.unlink()
    assert "src/b.py" not in kept.listing().files
    passing.touch()
    assert "src/b.py" in kept.listing().files


def test_a_file_that_became_a_folder_or_a_link_is_none(repository: Path) -> None:
    kept, file = Kept(repository), repository / "src" / "a.py"
    assert "src/a.py" in kept.listing().files
    file.rename(repository / "other.py")
    file.symlink_to("../other.py")
    assert kept.listing().files == {".gitignore", "other.py"}
    file.unlink()
    file.mkdir()
    (file / "b.py").touch()
    assert kept.listing().files == {".gitignore", "other.py", "src/a.py/b.py"}


def test_what_git_ignores_may_be_named_elsewhere(repository: Path) -> None:
    kept = Kept(repository / "src")
    assert kept.listing().files == {"a.py"}
    (repository / ".gitignore").write_text("*.py\n")
    assert kept.listing().files == frozenset()
    (repository / ".gitignore").write_text("")
    (repository / ".git" / "info" / "exclude").write_text("a.*\n")
    assert kept.listing().files == frozenset()
    (repository / "src" / ".ignore").write_text("!a.py\n")
    assert kept.listing().files == {"a.py", ".ignore"}


def test_a_repository_in_the_repository_is_looked_at_each_time(repository: Path) -> None:
    inner = repository / "inner"
    inner.mkdir()
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "a.py").touch()
    kept = Kept(repository)
    assert "inner/a.py" in kept.listing().files
    (inner / "b.py").touch()
    assert "inner/b.py" in kept.listing().files


def test_few_listings_are_kept(tmp_path: Path) -> None:
    for number in range(listing.MOST_KEPT + 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / os.fsdecode(b"\xe9")).touch()
        assert len(listing.listing(folder).files) == 1
    assert len(listing._kept) == listing.MOST_KEPT


def test_a_folder_that_is_gone_is_no_folder_without_files(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    kept = Kept(folder)
    assert kept.listing().files == frozenset()
    folder.rmdir()
    with pytest.raises(SearchFailed):
        kept.listing()
