"""Vendored scripts: fetched from a loopback registry, checked, and never half written."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tarfile
import threading
from collections.abc import Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from opencode_web import vendor


@cache
def tarball() -> bytes:
    """The same at each call: gzip puts the time into it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in {
            "dist/thing.min.js": b"let thing = 1",
            "LICENSE": b"free",
            "evil.js": b"no",
        }.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    return buffer.getvalue()


def write_lock(static: Path, content: bytes) -> None:
    static.mkdir()
    entry = {
        "name": "@scope/thing",
        "version": "1.2.3",
        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode(),
        "files": ["dist/thing.min.js"],
        "license": "LICENSE",
        "needed_for": "the test",
    }
    (static / "vendor.lock.json").write_text(json.dumps([entry]))


@pytest.fixture
def without_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("NPM_CONFIG_REGISTRY", raising=False)
    monkeypatch.delenv("npm_config_registry", raising=False)
    monkeypatch.delenv("NPM_CONFIG_USERCONFIG", raising=False)
    monkeypatch.setattr("opencode_web.vendor.GLOBAL_FILES", ())


@pytest.fixture
def registry(tmp_path: Path, without_npm: None) -> Iterator[str]:
    """A registry that serves @scope/thing 1.2.3, named by the user's .npmrc."""
    folder = tmp_path / "registry" / "@scope" / "thing" / "-"
    folder.mkdir(parents=True)
    (folder / "thing-1.2.3.tgz").write_bytes(tarball())
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "registry"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        (tmp_path / ".npmrc").write_text(f"fund=false\nregistry = {url}\n")
        yield url
        server.shutdown()


def test_keeps_the_listed_files_only(tmp_path: Path, registry: str) -> None:
    write_lock(tmp_path / "static", tarball())
    assert vendor.fetch_missing(tmp_path / "static") == []
    folder = tmp_path / "static" / "vendor" / "@scope" / "thing"
    assert {path.name for path in folder.iterdir()} == {"thing.min.js", "LICENSE", ".integrity"}
    assert (folder / "thing.min.js").read_bytes() == b"let thing = 1"


def test_what_is_there_is_not_fetched_again(
    tmp_path: Path, registry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lock(tmp_path / "static", tarball())
    vendor.fetch_missing(tmp_path / "static")
    (tmp_path / ".npmrc").unlink()
    assert vendor.fetch_missing(tmp_path / "static") == []


def test_a_changed_tarball_is_refused(tmp_path: Path, registry: str) -> None:
    write_lock(tmp_path / "static", b"something else")
    with pytest.raises(vendor.Tampered, match=r"@scope/thing@1\.2\.3"):
        vendor.fetch_missing(tmp_path / "static")
    assert not (tmp_path / "static" / "vendor").exists()


@pytest.mark.parametrize(
    ("source", "made"),
    [
        ("import { a, b as c } from '@x/b';", "import { a, b as c } from '../b/other.js';"),
        (
            "import * as d from 'plain'\nimport '@x/b'",
            "import * as d from '../../plain/it.mjs'\nimport '../b/other.js'",
        ),
        ('export { a } from "plain";', 'export { a } from "../../plain/it.mjs";'),
        ("export function f() { return 'plain' }", "export function f() { return 'plain' }"),
        ("import { e } from './own.js'", "import { e } from './own.js'"),
    ],
)
def test_a_module_names_others_by_where_they_lie(tmp_path: Path, source: str, made: str) -> None:
    folder = tmp_path / "@x/a"
    folder.mkdir(parents=True)
    (folder / "a.js").write_text(source)
    modules = {"@x/b": Path("@x/b/other.js"), "plain": Path("plain/it.mjs")}
    vendor._address(folder, modules, tmp_path)
    assert (folder / "a.js").read_text() == made


def test_a_module_that_needs_what_the_lock_has_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("import { x } from 'unknown';")
    with pytest.raises(vendor.Tampered, match="unknown"):
        vendor._address(tmp_path, {}, tmp_path)


def test_a_style_sheet_finds_its_files_beside_it(tmp_path: Path) -> None:
    sheet = tmp_path / "a.css"
    sheet.write_text(
        "a{src:url(fonts/A_b-1.woff2)}b{src:url('../c.png')}i{src:url(data:image/png;base64,a/b)}"
    )
    vendor._flatten(tmp_path)
    assert (
        sheet.read_text() == "a{src:url(A_b-1.woff2)}b{src:url(c.png)}i{src:url(data:image/png;base64,a/b)}"
    )


def test_without_npm_and_registry_it_warns_and_succeeds(
    tmp_path: Path, without_npm: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lock(tmp_path / "static", tarball())
    monkeypatch.setattr(vendor, "STATIC", tmp_path / "static")
    assert vendor.main() == 0
    assert "@scope/thing 1.2.3 is missing (the test)" in capsys.readouterr().err


def test_the_style_sheets_name_only_files_that_are_fetched() -> None:
    fetched = {
        f"{package.name}/{Path(file).name}"
        for package in vendor.read_lock(vendor.STATIC)
        for file in package.files
    }
    sheets = "".join(file.read_text() for file in (vendor.STATIC / "css").glob("*.css"))
    named = set(re.findall(r"vendor/([\w@./-]+)", sheets))
    assert named
    assert named <= fetched
