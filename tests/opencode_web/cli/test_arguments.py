from __future__ import annotations

import os
import socket
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.config.schema import ServerConfig
from opencode_web.cli import main
from opencode_web.cli.arguments import parse
from opencode_web.cli.setup import project_directory
from opencode_web.cli.start import choose
from opencode_web.cli.terminal import Stop
from tests.server import ROOT


def arguments(hostname: str | None = None, port: int | None = None) -> Namespace:
    return Namespace(hostname=hostname, port=port, cors=["http://a.example"])


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on, for the time of the test."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_first_word_is_a_command_or_a_project() -> None:
    assert parse(["serve", "x"]).directory == "x"
    assert parse(["serve"]).no_open is True
    assert parse(["./serve", "--no-open"]).directory == "./serve"
    assert parse(["--cors", "http://a", "--cors", "http://b"]).cors == ["http://a", "http://b"]
    assert parse(["manage", "migrate", "--check"]).rest == ["migrate", "--check"]


@pytest.mark.parametrize(
    "argv",
    [
        ["--port", "70000"],
        ["--nonsense"],
        ["serve", "--no-open"],
        ["frobnicate"],
        ["stats", "--days", "99999999999"],
        ["stats", "--tools", "-1"],
        ["session", "list", "-n", "99999999999999999999"],
        ["session", "list", "-n", "0"],
    ],
)
def test_wrong_arguments_exit_with_status_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(argv)
    assert caught.value.code == 2
    assert "opencode-web" in capsys.readouterr().err


def test_a_number_that_is_none_is_told_what_it_may_be(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(["--port", "abc"])
    assert "--port: a number from 0 to 65535, not 'abc'" in capsys.readouterr().err


def test_standard_streams_may_be_closed(tmp_path: Path) -> None:
    """As daemons start programs."""
    command = ["sh", "-c", 'exec "$0" -m opencode_web "$@" <&- >&-', sys.executable, "models"]
    environ = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "OPENCODE_WEB_NO_DISCOVERY": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("./missing", "does not exist"),
        ("file", "is a file"),
        ("/", "root of the file system"),
        ("a\0b", "usable"),
    ],
)
def test_a_bad_project_is_refused_with_status_2(
    name: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    assert main([name]) == 2
    assert reason in capsys.readouterr().err


def test_make_looks_for_the_folder_before_it_installs(tmp_path: Path) -> None:
    command = ["make", "-C", str(ROOT), "run", f"DIR={tmp_path / 'missing'}", f"BIN={tmp_path / 'venv'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"there is no folder {tmp_path / 'missing'}" in done.stderr
    assert not (tmp_path / "venv").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_project_is_refused(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    with pytest.raises(Stop, match="permission denied"):
        project_directory(str(locked))


def test_a_project_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thing").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert project_directory("~/thing") == tmp_path / "thing"


@pytest.mark.parametrize("hostname", ["0.0.0.0", "::", "192.0.2.1", "box.lan"])  # noqa: S104
def test_rule_10_others_may_reach_us_only_with_a_password(hostname: str) -> None:
    for asked, config in ((arguments(hostname), {}), (arguments(), {"hostname": hostname})):
        with pytest.raises(Stop, match="OPENCODE_SERVER_PASSWORD") as caught:
            choose(asked, ServerConfig.model_validate(config), {})
        assert caught.value.status == 2


def test_with_a_password_all_addresses_can_be_listened_on() -> None:
    network = choose(arguments("0.0.0.0", 0), ServerConfig(), {"OPENCODE_SERVER_PASSWORD": "x"})  # noqa: S104
    assert network.address == "0.0.0.0"  # noqa: S104
    assert network.url == f"http://127.0.0.1:{network.port}"


def test_a_port_that_was_named_is_taken_or_refused(taken: int) -> None:
    for asked, config in ((arguments(port=taken), {}), (arguments(), {"port": taken})):
        with pytest.raises(Stop, match=f"port {taken}"):
            choose(asked, ServerConfig.model_validate(config), {})


def test_without_a_named_port_the_next_free_one_is_used(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opencode_web.cli.start.DEFAULT_PORT", taken)
    network = choose(arguments(), ServerConfig(cors=["http://b.example"]), {})
    assert taken < network.port < taken + 100
    assert network.cors == ["http://b.example", "http://a.example"]


def test_no_settings_are_read_before_a_command_has_decided_on_them() -> None:
    """`front` makes a front of the process, and what a machine was told when it joined makes it a node."""
    look = (
        "import sys, opencode_web.cli, opencode_web.cli.start, opencode_web.cli.worker;"
        "print('opencode_web.settings' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"
