"""The wheel, installed where nothing else is: what it carries, what it leaves alone, that it serves."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from opencode_web import __version__

ROOT = Path(__file__).resolve().parent.parent.parent
PASSWORD = "correct-horse-battery"
LISTENING = re.compile(r"opencode-web server listening on (http://\S+)")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory, user_environ: dict[str, str]) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        env=user_environ,
    )
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def clean_venv(wheel: Path, tmp_path_factory: pytest.TempPathFactory, user_environ: dict[str, str]) -> Path:
    """A virtual environment with the wheel and its pinned dependencies, and nothing of the checkout."""
    venv = tmp_path_factory.mktemp("installed") / "venv"
    uv = [sys.executable, "-m", "uv"]
    subprocess.run(
        [*uv, "venv", "--quiet", "--python", sys.executable, str(venv)], check=True, env=user_environ
    )
    subprocess.run(
        [
            *(*uv, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python")),
            *("--constraint", str(ROOT / "constraints.txt"), str(wheel)),
        ],
        check=True,
        env=user_environ,
    )
    return venv


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def server(clean_venv: Path, tmp_path: Path) -> Iterator[str]:
    """The URL of the installed server, started in a fresh home on an empty project."""
    (tmp_path / "project").mkdir()
    process = subprocess.Popen(
        [clean_venv / "bin" / "opencode-web", "serve", str(tmp_path / "project"), "--port", str(free_port())],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OPENCODE_SERVER_PASSWORD": PASSWORD},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    printed: list[str] = []
    try:
        for line in process.stdout:
            printed.append(line)
            if found := LISTENING.search(line):
                yield found[1]
                break
        else:
            pytest.fail(f"the server ended before it listened:\n{''.join(printed)}")
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_contents(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {
        "opencode_web",
        f"opencode_web-{__version__}.dist-info",
    }
    app = {name.split("/")[2] for name in names if name.startswith("opencode_web/_app/")}
    assert {"sessions", "agents", "templates", "static"} <= app
    for source in [*(ROOT / "templates").rglob("*.html"), *(ROOT / "static").rglob("*.[cj]s*")]:
        assert f"opencode_web/_app/{source.relative_to(ROOT)}" in names
    assert "opencode_web/_app/static/words/de.js" in names
    assert "opencode_web/locale/de/LC_MESSAGES/django.mo" in names
    assert [name for name in names if name.endswith(".po")] == []


def test_generic_names_stay_out_of_site_packages(clean_venv: Path) -> None:
    installed = {path.name for path in next(clean_venv.glob("lib/python*/site-packages")).iterdir()}
    assert "opencode_web" in installed
    assert installed.isdisjoint({"sessions", "agents", "templates", "static", "tests"})


def test_serves_the_page_and_its_css(server: str) -> None:
    with httpx.Client(base_url=server, auth=("opencode", PASSWORD), follow_redirects=True) as client:
        page = client.get("/")
        assert page.status_code == 200
        stylesheets = re.findall(r'<link[^>]+href="(/static/[^"]+\.css[^"]*)"', page.text)
        assert stylesheets
        for href in stylesheets:
            css = client.get(href)
            assert (css.status_code, css.headers["content-type"].split(";")[0]) == (200, "text/css")
