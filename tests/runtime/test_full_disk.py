"""The disk is full while a turn runs: it is said, nothing hangs, and with room again the session goes on."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn, Wait
from tests.server import PASSWORD, Server, model_config, parts_of, running, until

SIZE = 24 * 1024 * 1024
LONG = "many words " * 30_000
"""More than SQLite's log has room for without growing."""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A home on a disk of its own."""
    path = tmp_path / "small"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "tmpfs", str(path)]
    made = subprocess.run(mount, capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"NOT TESTED, a full disk: no tmpfs can be mounted here ({made.stderr.strip()})")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(disk: Path) -> Path:
    """Take all room that there is."""
    file = disk / "filler"
    with file.open("wb", buffering=0) as handle:
        for size in (1 << 20, 1 << 12):
            try:
                while True:
                    handle.write(os.urandom(size))
            except OSError:
                continue
    return file


@pytest.mark.sqlite
@pytest.mark.proc
async def test_a_turn_on_a_full_disk(small: Path, project: Path) -> None:
    script = [Turn(text=["begun ", Wait("full"), LONG, LONG, "never kept", Wait("stop")]), Turn(text="after")]
    async with OpenAIServer(script) as model:
        server = Server(small, project, model_config(model.base_url), {"OPENCODE_WEB_LEASE_SECONDS": "1"})
        async with running(server) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Talk.")
            await until(events, "message.part.delta", delta="begun ")
            filler = fill(small)
            model.gate("full").open()
            told = await until(events, "session.error", sessionID=session)
            assert "disk is full" in told.properties["error"]["data"]["message"]
            auth = httpx.BasicAuth("opencode", PASSWORD)
            async with httpx.AsyncClient(base_url=server.url, auth=auth) as http:
                refused = await http.post(
                    f"/session/{session}/prompt_async",
                    json={"parts": [{"type": "text", "text": LONG}]},
                )
                assert (refused.status_code, "disk is full" in refused.text) == (507, True)
                v2 = await http.post(f"/api/session/{session}/prompt", json={"prompt": {"text": LONG}})
                assert (v2.status_code, "disk is full" in v2.text) == (507, True)
            await client.abort(session)
            filler.unlink()
            await until(events, "session.idle", sessionID=session)
            answer = await client.prompt(session, "And now?")
            assert parts_of([answer], "text")[0]["text"] == "after"
            history = await client.messages(session)
            assert history[1]["info"]["time"]["completed"]
            assert history[1]["info"]["error"]["name"] in ("MessageAbortedError", "UnknownError")
