"""Which Chromium is taken, and how it is started; the keys that it is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agents.servers.browser import program
from agents.servers.browser.keys import NoKey, strokes
from sessions.core import variables

Make = Callable[[str], Path]
PIPES = (Path("/in"), Path("/out"))


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes programs below an empty home, and nothing is in the path but its `bin`."""
    monkeypatch.setattr(program, "_APPLICATIONS", ())
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))

    def made(name: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o700)
        return path

    return made


def test_the_first_that_is_there_is_taken(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(program.NoChromium):
        program.found()
    for name in (
        ".cache/puppeteer/chrome/linux-130/chrome-linux64/chrome",
        ".cache/ms-playwright/chromium_headless_shell-1200/chrome-linux/headless_shell",
        ".cache/ms-playwright/chromium-1100/chrome-linux/chrome",
        ".cache/ms-playwright/chromium-1200/chrome-linux/chrome",
        "bin/chromium-headless-shell",
        "bin/chrome",
        "bin/chromium",
        "named/browser",
    ):
        path = make(name)
        if name.startswith("named"):
            monkeypatch.setenv(variables.CHROMIUM.name, str(path))
        assert program.found() == str(path)


def test_an_application_of_macos_is_found(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_APPLICATIONS", ("Google Chrome",))
    path = make("Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    assert program.found() == str(path)


def test_what_sees_no_folder_of_ours_is_passed_over(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = make("snap/chromium")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "chromium").symlink_to(target)
    monkeypatch.setattr(program, "_CONFINED", f"{tmp_path}/snap/")
    with pytest.raises(program.NoChromium):
        program.found()


def test_it_goes_by_the_proxy_alone() -> None:
    def flags(proxy: str, *, confined: bool) -> list[str]:
        how = {"confined": confined, "own_sandbox": not confined}
        made = program.command("chrome", Path("/p"), PIPES, proxy, **how)
        assert made[:2] == ["/bin/sh", "-c"]
        return made[7:]

    free = flags("http://127.0.0.1:5000", confined=False)
    assert "--proxy-server=http://127.0.0.1:5000" in free
    assert "--proxy-bypass-list=<-loopback>" in free
    assert "--no-sandbox" not in free
    confined = flags("http://name:x@127.0.0.1:5000", confined=True)
    assert "--proxy-server=http://127.0.0.1:5000" in confined
    assert "--proxy-bypass-list=<-loopback>;localhost;*.localhost;127.0.0.1;[::1]" in confined
    assert "--no-sandbox" in confined
    assert "--no-proxy-server" in flags("", confined=True)
    assert not any("remote-debugging-port" in flag for flag in (*free, *confined))


def test_its_environment_has_no_keys() -> None:
    given = {"PATH": "/bin", "HOME": "/h", "OPENAI_API_KEY": "x", "GITHUB_TOKEN": "x", "http_proxy": "x"}
    assert program.environment(given) == {"PATH": "/bin", "HOME": "/h"}


@pytest.mark.parametrize(
    ("name", "key", "text", "held"),
    [
        ("Enter", "Enter", "\r", 0),
        ("a", "a", "a", 0),
        ("A", "A", "A", 0),
        ("Space", " ", " ", 0),
        ("+", "+", "+", 0),
        ("Control++", "+", None, 2),
        ("Ctrl+a", "a", None, 2),
        ("Shift+Tab", "Tab", None, 8),
        ("Esc", "Escape", None, 0),
        ("F5", "F5", None, 0),
    ],
)
def test_keys(name: str, key: str, text: str | None, held: int) -> None:
    down, up = strokes(name)
    assert (down["key"], down.get("text"), down["modifiers"]) == (key, text, held)
    assert up["type"] == "keyUp"


@pytest.mark.parametrize("name", ["", "Nokey", "Hyper+a", "Control+Nokey"])
def test_no_keys(name: str) -> None:
    with pytest.raises(NoKey):
        strokes(name)
