"""What a client may open as a project by naming its folder, and what takes a person's word."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.hostile.folders import CLOSED, ORDINARY
from tests.protocol.served import Served
from tests.server import PASSWORD

pytestmark = pytest.mark.asyncio(loop_scope="session")

OPERATIONS = (
    ("GET", "/file/content?path=passwd"),
    ("GET", "/file?path="),
    ("GET", "/find?pattern=root"),
    ("GET", "/find/file?query=passwd"),
    ("GET", "/project/current"),
    ("GET", "/path"),
    ("GET", "/config"),
    ("GET", "/event"),
    ("POST", "/session"),
    ("POST", "/pty"),
    ("GET", "/api/fs/read/passwd"),
    ("GET", "/api/fs/list"),
    ("GET", "/api/location"),
    ("POST", "/api/session"),
)
BROWSED = ("~", "~/", "~/project/..", "~/..", "~/project/link-to-home")
"""A client may list these, to let a person choose."""


@pytest.fixture(scope="session")
def home(served: Served) -> Path:
    home = served.server.home
    for name in (
        "project/src",
        ".ssh",
        ".gnupg/private",
        ".aws",
        ".config/thing",
        "notes",
        "holidays",
        ".dotfiles",
    ):
        (home / name).mkdir(parents=True, exist_ok=True)
    for name in ("notes", "holidays"):
        (home / name / "today.md").write_text("Nothing.")
    (home / "project" / "link-to-etc").symlink_to("/etc")
    (home / "project" / "link-to-home").symlink_to(home)
    return home


def named(folder: str, home: Path) -> str:
    return str(home) + folder[1:] if folder.startswith("~") else folder


@pytest.mark.parametrize("folder", CLOSED)
async def test_a_folder_that_is_no_ordinary_project_is_refused_in_words(
    served: Served, home: Path, folder: str
) -> None:
    directory = named(folder, home)
    for method, path in OPERATIONS:
        if path == "/file?path=" and folder in BROWSED:
            continue
        answer = await served.http.request(method, path, headers={"x-opencode-directory": directory}, json={})
        if Path(directory).is_dir():
            assert answer.status_code == 403, (path, answer.text)
            assert "is not opened for a client" in answer.text
        else:
            assert answer.status_code in (400, 403, 404), (path, answer.text)
    by_query = await served.http.get("/find/file", params={"directory": directory, "query": "passwd"})
    assert by_query.status_code in (403, 404)


@pytest.mark.parametrize("folder", ORDINARY)
async def test_an_ordinary_project_opens_without_a_word(served: Served, home: Path, folder: str) -> None:
    for path in ("/file", "/project/current", "/api/location"):
        answer = await served.http.get(path, params={"directory": named(folder, home), "path": ""})
        assert answer.status_code == 200, answer.text


async def test_a_client_may_list_homes_to_let_a_person_choose(served: Served, home: Path) -> None:
    async def listed(directory: str, path: str = "") -> httpx.Response:
        return await served.http.get("/file", params={"directory": directory, "path": path})

    assert "project" in {entry["name"] for entry in (await listed(str(home))).json()}
    assert (await listed("/")).status_code == 200
    assert (await listed(str(home), "project")).status_code == 200
    for directory, path in (("/", "etc"), ("/", "proc/self"), (str(home), ".ssh"), ("/", "usr/share")):
        assert (await listed(directory, path)).status_code == 403
    found = await served.http.get(
        "/find/file", params={"directory": str(home), "query": "holidays", "type": "directory"}
    )
    assert found.json() == ["holidays/"]


async def test_a_person_opens_one_in_the_page_and_it_is_remembered(served: Served, home: Path) -> None:
    keys = home / ".aws"
    auth = ("opencode", PASSWORD)
    async with httpx.AsyncClient(base_url=served.server.url, auth=auth, timeout=30) as page:
        asked = await page.post("/projects/open", data={"path": str(keys)})
        assert asked.status_code == 422
        assert "Keys are kept in it." in asked.text
        assert "Open it anyway" in asked.text
        opened = await page.post("/projects/open", data={"path": str(keys), "sure": "on"})
        assert opened.headers["hx-redirect"].startswith("/p/")
    answer = await served.http.get("/project/current", params={"directory": str(keys)})
    assert answer.status_code == 200
    (served.server.data / "folders.json").unlink()
    answer = await served.http.get("/project/current", params={"directory": str(keys)})
    assert answer.status_code == 403
