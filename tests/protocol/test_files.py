"""`/path`, `/file`, `/file/content`: what is in a project, and nothing outside of it."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

WHERE = "OpenCode answers 500, and for a file that is not there empty text"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with links, a pipe and contents that are no text, beside a secret."""
    (tmp_path / "secret.txt").write_text("nobody may read this")
    project = tmp_path / "files"
    (project / "src").mkdir(parents=True)
    (project / "src" / "app.py").write_text("print()\n")
    (project / "bytes.bin").write_bytes(b"\0\1")
    (project / "latin.txt").write_bytes("café".encode("latin-1"))
    (project / "inner").symlink_to("src/app.py")
    (project / "out").symlink_to("../secret.txt")
    (project / "above").symlink_to("..")
    os.mkfifo(project / "pipe")
    with (project / "large.txt").open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    return project


async def test_where_things_are(served: Served) -> None:
    found = await served.get("/path")
    assert found["worktree"] == found["directory"] == str(served.server.project)
    assert found["home"] == str(served.server.home)


async def test_a_folder_lists_folders_first_and_nothing_that_leads_out(served: Served, folder: Path) -> None:
    found = await served.get("/file", path="", directory=str(folder))
    assert [entry["path"] for entry in found] == ["src/", "bytes.bin", "inner", "large.txt", "latin.txt"]
    (entry,) = await served.get("/file", path="src", directory=str(folder))
    absolute = str(folder / "src" / "app.py")
    assert entry == {
        "name": "app.py",
        "path": "src/app.py",
        "absolute": absolute,
        "type": "file",
        "ignored": False,
    }


async def test_what_git_ignores_is_marked(served: Served, folder: Path) -> None:
    await served.post("/project/git/init", directory=str(folder))
    (folder / ".gitignore").write_text("*.bin\nsrc\n")
    found = await served.get("/file", path=".", directory=str(folder))
    assert [entry["name"] for entry in found if entry["ignored"]] == ["src", "bytes.bin"]


async def test_text_is_text_and_the_rest_base64(served: Served, folder: Path) -> None:
    place = {"directory": str(folder)}
    assert await served.get("/file/content", path="inner", **place) == {
        "type": "text",
        "content": "print()\n",
    }
    found = await served.get("/file/content", path=str(folder / "latin.txt"), **place)
    assert (found["type"], found["mimeType"]) == ("binary", "text/plain")
    assert base64.b64decode(found["content"]) == b"caf\xe9"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("../secret.txt", 403),
        ("/etc/hostname", 403),
        ("out", 403),
        ("above/secret.txt", 403),
        ("src\0", 400),
        ("x" * 5000, 400),
        ("pipe", 404),
        ("src", 404),
        ("nothing", 404),
        ("large.txt", 413),
    ],
)
async def test_what_is_not_read(served: Served, folder: Path, path: str, status: int) -> None:
    query = {"path": path, "directory": str(folder)}
    answer = await served.ask("GET", "/file/content", status=status, departs=WHERE, **query)
    assert "nobody" not in str(answer)
    assert answer["data"]["message"]


@pytest.mark.parametrize(("path", "status"), [("..", 403), ("above", 403), ("inner", 404), ("no", 404)])
async def test_what_is_not_listed(served: Served, folder: Path, path: str, status: int) -> None:
    await served.ask("GET", "/file", status=status, departs=WHERE, path=path, directory=str(folder))


async def test_a_name_that_is_no_text_does_not_break_a_list(served: Served, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9")).touch()
    (entry,) = await served.get("/file", path="", directory=str(tmp_path))
    assert entry["name"] == "caf\ufffd"


async def test_a_path_has_to_be_given(served: Served) -> None:
    answer = await served.ask("GET", "/file", status=400)
    assert "path" in answer["data"]["message"]


async def test_a_folder_that_is_not_there(served: Served, tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    for path in ("/file", "/path", "/project/current", "/vcs", "/experimental/worktree"):
        await served.ask(
            "GET", path, status=404, departs="OpenCode takes it for `/`", path="", directory=gone
        )
    assert gone not in str(await served.get("/project"))
