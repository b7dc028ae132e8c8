"""The page about the program: what it is made of, its log, and whether all is well."""

from __future__ import annotations

import re
from html import unescape

import pytest

from opencode_web.site import about
from opencode_web.site.logs import FILE_NAME
from sessions.core import paths
from tests.guarded import GuardedClient

pytestmark = pytest.mark.django_db(transaction=True)


def text(content: bytes) -> str:
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content.decode())))


async def test_packages_come_with_their_licences() -> None:
    said = text((await GuardedClient().get("/settings/about")).content)
    assert re.search(r"Django [\d.]+ BSD-3-Clause", said)
    assert f"Data {paths.data_directory()}" in said or "Data ~" in said


async def test_the_log_ends_with_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    file = paths.logs() / FILE_NAME
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("one INFO began\ntwo ERROR <broke>\nthree INFO went on\n")
    client = GuardedClient()
    said = text((await client.get("/settings/about/log", {"problems": "1"})).content)
    assert "two ERROR <broke>" in said
    assert "began" not in said
    monkeypatch.setattr(about, "LOG_BYTES", 30)
    said = text((await client.get("/settings/about/log")).content)
    assert "two ERROR" not in said
    assert "three INFO went on" in said
    file.unlink()
    assert "There are none." in text((await client.get("/settings/about/log")).content)


async def test_health_is_looked_at_by_a_process_of_its_own() -> None:
    answer = await GuardedClient().post("/settings/about/examine")
    said = text(answer.content)
    assert answer.status_code == 200
    assert "All is well" in said or "is to be looked" in said
    assert "andbox" in said
