"""`/api/health`, `/api/location`, `/api/fs`, `/api/reference`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("nobody may read this")
    project = tmp_path / "places"
    (project / "src").mkdir(parents=True)
    (project / "src" / "page.html").write_bytes(b"<script>\xff")
    (project / "out").symlink_to("../secret.txt")
    with (project / "large.bin").open("wb") as file:
        file.truncate(10 * 1024 * 1024 + 1)
    return project


async def test_where_a_request_is_about(served: Served, folder: Path) -> None:
    assert await served.get("/api/health") == {"healthy": True}
    own = await served.get("/api/location")
    assert own["directory"] == own["project"]["directory"] == str(served.server.project)
    other = await served.get("/api/location", **{"location[directory]": str(folder)})
    assert other["directory"] == str(folder)
    gone: dict[str, Any] = {"location[directory]": str(folder / "gone")}
    answer = await served.ask("GET", "/api/location", status=400, **gone)
    assert answer["_tag"] == "InvalidRequestError"


async def test_what_is_in_a_folder(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"location[directory]": str(folder)}
    found = await served.get("/api/fs/list", **place)
    assert found["location"]["directory"] == str(folder)
    assert found["data"] == [{"path": "src/", "type": "directory"}, {"path": "large.bin", "type": "file"}]
    below = await served.get("/api/fs/list", path="src", **place)
    assert below["data"] == [{"path": "src/page.html", "type": "file"}]
    for path in ("..", "/etc", "nothing", "src/page.html", "a\0b"):
        answer = await served.ask("GET", "/api/fs/list", status=400, path=path, **place)
        assert answer["field"] == "path"


async def test_names_are_found(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"location[directory]": str(folder)}
    found = await served.get("/api/fs/find", query="src", **place)
    both = [{"path": "src/", "type": "directory"}, {"path": "src/page.html", "type": "file"}]
    assert found["data"] == both
    found = await served.get("/api/fs/find", query="src", type="file", limit="5000", **place)
    assert found["data"] == both[1:]
    for limit in ("0", "-1", "x"):
        answer = await served.ask("GET", "/api/fs/find", status=400, query="a", limit=limit)
        assert answer["field"] == "limit"


async def test_a_file_is_bytes_and_nothing_a_browser_shows(served: Served, folder: Path) -> None:
    place: dict[str, Any] = {"location[directory]": str(folder)}
    answer = await served.http.get("/api/fs/read/src/page.html", params=place)
    assert (answer.status_code, answer.content) == (200, b"<script>\xff")
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("%2e%2e/secret.txt", "/etc/hostname", "out", "src", "nothing", "large.bin", "a%00b"):
        answer = await served.http.get(f"/api/fs/read/{path}", params=place)
        assert (answer.status_code, answer.json()["_tag"]) == (400, "InvalidRequestError"), path


async def test_no_references(served: Served) -> None:
    assert (await served.get("/api/reference"))["data"] == []
