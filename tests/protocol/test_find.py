"""`/find`, `/find/file`, `/find/symbol`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository of its own, so that what is made in it is found by nobody else."""
    (tmp_path / "docs" / "user").mkdir(parents=True)
    (tmp_path / "docs" / "user" / "readme.md").write_text("The word is mellon.\n")
    (tmp_path / "user.py").write_text("first\nspeak = 'mellon' + 'mellon'\n")
    (tmp_path / ".gitignore").write_text("*.log\nbuild/\n")
    (tmp_path / "user.log").write_text("mellon\n")
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


async def test_text_with_its_place(served: Served, folder: Path) -> None:
    found = await served.get("/find", pattern="mell[o]n", directory=str(folder))
    by_path = {match["path"]["text"]: match for match in found}
    assert set(by_path) == {"user.py", "docs/user/readme.md"}
    match = by_path["user.py"]
    assert (match["line_number"], match["absolute_offset"]) == (2, 6)
    assert match["lines"]["text"] == "speak = 'mellon' + 'mellon'\n"
    assert match["submatches"][1] == {"match": {"text": "mellon"}, "start": 20, "end": 26}


async def test_a_search_ends_at_ten_matches(served: Served, folder: Path) -> None:
    (folder / "long.txt").write_text("again\n" * 100_000)
    (folder / "one.txt").write_text("again " * 1_000_000 + "\n")  # a line too long to be passed on
    found = await served.get("/find", pattern="again", directory=str(folder))
    assert [match["path"]["text"] for match in found] == ["long.txt"] * 10


async def test_bytes_that_are_no_text_do_not_break_a_search(served: Served, folder: Path) -> None:
    (folder / "latin.txt").write_bytes(b"caf\xe9 au lait\n")
    (match,) = await served.get("/find", pattern="au lait", directory=str(folder))
    assert match["lines"]["text"] == "caf\ufffd au lait\n"


@pytest.mark.parametrize("query", [{}, {"pattern": "("}, {"pattern": "a\0b"}])
async def test_a_pattern_that_is_none(served: Served, query: dict[str, str]) -> None:
    answer = await served.ask("GET", "/find", status=400, **query)
    assert answer["data"]["message"].startswith("pattern: ")


async def test_names_of_files_and_folders(served: Served, folder: Path) -> None:
    place = {"directory": str(folder), "query": "user"}
    both = ["user.py", "docs/user/", "docs/user/readme.md"]
    assert sorted(await served.get("/find/file", **place)) == sorted(both)
    assert await served.get("/find/file", dirs="false", **place) == ["user.py", "docs/user/readme.md"]
    assert await served.get("/find/file", type="file", **place) == ["user.py", "docs/user/readme.md"]
    assert await served.get("/find/file", type="directory", dirs="false", **place) == ["docs/user/"]
    assert await served.get("/find/file", limit=1, **place) == ["user.py"]


async def test_a_file_of_this_moment_is_found_and_one_that_went_is_not(served: Served, folder: Path) -> None:
    async def named(query: str) -> list[str]:
        found: list[str] = await served.get("/find/file", query=query, directory=str(folder))
        return found

    assert await named("newcomer") == []
    (folder / "newcomer.py").touch()
    assert await named("newcomer") == ["newcomer.py"]
    (folder / "docs" / "deep" / "er").mkdir(parents=True)
    (folder / "docs" / "deep" / "er" / "newcomer.py").touch()
    (folder / "newcomer.log").touch()
    assert await named("newcomer") == ["newcomer.py", "docs/deep/er/newcomer.py"]
    (folder / "newcomer.py").unlink()
    (folder / "docs" / "deep").rename(folder / "docs" / "sea")
    assert await named("newcomer") == ["docs/sea/er/newcomer.py"]
    (folder / ".gitignore").write_text("sea\n")
    assert await named("newcomer") == ["newcomer.log"]
    (folder / "newcomer.log").rename(folder.parent / f"{folder.name}.log")
    assert await named("newcomer") == []


@pytest.mark.parametrize(
    ("field", "value"), [("limit", "-1"), ("limit", "0"), ("limit", "201"), ("dirs", "x"), ("type", "x")]
)
async def test_what_a_search_for_names_does_not_take(served: Served, field: str, value: str) -> None:
    answer = await served.ask("GET", "/find/file", status=400, query="a", **{field: value})
    assert answer["data"]["message"].startswith(f"{field}: ")


async def test_no_symbols_without_language_servers(served: Served) -> None:
    assert await served.get("/find/symbol", query="hello") == []
    await served.ask("GET", "/find/symbol", status=400)
