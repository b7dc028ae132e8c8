from __future__ import annotations

import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from opencode_web import team
from opencode_web.nodes.parking.place import Place, Unavailable
from tests import programs


def used(place: Place, folder: Path) -> None:
    file = folder / "file"
    file.write_bytes(bytes(range(256)) * 100_000)
    place.put("one/two/small", b"small")
    place.put("one/two/large", file)
    place.put("one/other", b"")
    assert place.names("one/two") == ["one/two/large", "one/two/small"]
    assert place.get("one/two/small") == b"small"
    target = folder / "target"
    place.fetch("one/two/large", target)
    assert target.read_bytes() == file.read_bytes()
    with pytest.raises(Unavailable, match="not"):
        place.get("one/none")
    place.remove(place.names("one/two"))
    assert place.names("one") == ["one/other"]


def test_a_folder(tmp_path: Path) -> None:
    used(Place(f"file://{tmp_path}/parked%20here"), tmp_path)
    assert (tmp_path / "parked here" / "one" / "other").is_file()


@pytest.fixture(scope="module")
def bucket(user_environ: Mapping[str, str]) -> Iterator[str]:
    """The address of a server that speaks as S3 does, with a bucket `parked`."""
    program = programs.pypi("moto", "moto_server", user_environ)
    command = [str(program), "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "Running on" in line)
            address = line.partition("Running on ")[2].split()[0]
            request = urllib.request.Request(f"{address}/parked", method="PUT")  # noqa: S310
            urllib.request.urlopen(request).close()  # noqa: S310
            yield address
        finally:
            server.terminate()


@pytest.mark.slow
def test_a_bucket(bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("AWS_ENDPOINT_URL", bucket),
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "word"),
        ("AWS_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    used(Place("s3://parked/team"), tmp_path)
    with pytest.raises(Unavailable, match="s3://nothing"):
        Place("s3://nothing").put("key", b"")


@pytest.mark.parametrize("address", ["parked", "file://host/folder", "file:parked", "s3:parked", "ftp://x/y"])
def test_what_is_no_place(address: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="no place like"):
        team.park({"OPENCODE_WEB_NODE": "one", "OPENCODE_WEB_PARK": address})
