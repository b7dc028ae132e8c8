from __future__ import annotations

import base64
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sessions.core import paths


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_data_folder_and_the_secret_are_private(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    secret = paths.secret(environ)
    folder = tmp_path / "data" / "opencode-web"
    assert (mode(folder), mode(folder / "secret"), mode(paths.snapshots(environ))) == (0o700, 0o600, 0o700)
    assert len(base64.urlsafe_b64decode(secret + "=")) == 32
    assert paths.secret(environ) == secret
    assert [file.name for file in folder.iterdir() if file.is_file()] == ["secret"]


def test_relative_base_directories_are_ignored(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "XDG_DATA_HOME": "here", "XDG_CONFIG_HOME": ""}
    assert paths.data_directory(environ) == tmp_path / ".local/share/opencode-web"
    assert paths.config_directory(environ) == tmp_path / ".config/opencode"
    assert paths.auth_files(environ)[1] == tmp_path / ".local/share/opencode/auth.json"


def test_servers_that_start_together_agree_on_the_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: paths.secret({"HOME": str(tmp_path)}), range(16)))
    assert len(found) == 1


def test_loose_modes_are_mended_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    environ = {"HOME": str(tmp_path)}
    secret = paths.secret(environ)
    file = paths.data_directory(environ) / "secret"
    file.chmod(0o644)
    file.parent.chmod(0o755)
    assert paths.secret(environ) == secret
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    assert str(file) in caplog.text
    assert secret not in caplog.text


def test_an_empty_secret_is_replaced(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    (paths.data_directory(environ) / "secret").touch(mode=0o600)
    assert len(paths.secret(environ)) == 43
