"""What changes on the disk is told to a page that shows files."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess

import pytest
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator

from sessions.core.db import in_db
from sessions.core.store import added_folders
from sessions.web.files.socket import websocket_urlpatterns
from tests.sessions.changes.review.world import World


async def until(socket: WebsocketCommunicator, *wanted: str) -> None:
    """All of these paths were told of."""
    left = set(wanted)
    async with asyncio.timeout(20):
        while left:
            left -= set(json.loads(await socket.receive_from(timeout=20)).get("changed", ()))


@pytest.mark.proc
async def test_changes_are_told_until_the_page_goes(world: World) -> None:
    url = f"/ws/p/{world.project.id}/files/"
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), url)
    socket.scope["principal"] = "me"  # type: ignore[typeddict-unknown-key]
    await socket.connect()
    assert json.loads(await socket.receive_from(timeout=20)) == {}
    asking = asyncio.create_task(until(socket, "kept.txt"))
    while not asking.done():  # it is watched a moment after the socket is there
        world.write("kept.txt", "changed\n")
        await asyncio.sleep(0.05)
    world.write("deep/er/file", "x")
    await until(socket, "deep")
    world.write("deep/er/other", "x")
    await until(socket, "deep/er/other")
    await asyncio.to_thread(subprocess.run, ["git", "-C", str(world.root), "add", "kept.txt"], check=True)
    await until(socket, ".git")
    shutil.rmtree(world.root / "deep")
    await until(socket, "deep")
    await socket.disconnect()


@pytest.mark.proc
async def test_folders_of_the_session_are_told_of_too(world: World, library: World) -> None:
    session, gone = await world.session(), world.root.parent / "gone"
    gone.mkdir()
    await in_db(lambda: added_folders.add(session, library.root))
    await in_db(lambda: added_folders.add(session, gone))
    gone.rmdir()
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), f"/ws/p/{world.project.id}/files/")
    socket.scope["principal"] = "me"  # type: ignore[typeddict-unknown-key]
    await socket.connect()
    await socket.send_to("ses_none")
    await socket.send_to(session.id)
    asking = asyncio.create_task(until(socket, str(library.root / "kept.txt")))
    while not asking.done():
        library.write("kept.txt", "changed\n")
        await asyncio.sleep(0.05)
    asking = asyncio.create_task(until(socket, "kept.txt"))
    while not asking.done():
        world.write("kept.txt", "changed\n")
        await asyncio.sleep(0.05)
    await socket.disconnect()


@pytest.mark.parametrize(("principal", "project", "code"), [(None, "", 4401), ("me", "none", 4404)])
async def test_nobody_else_is_told(world: World, principal: str | None, project: str, code: int) -> None:
    url = f"/ws/p/{project or world.project.id}/files/"
    socket = WebsocketCommunicator(URLRouter(websocket_urlpatterns), url)
    socket.scope["principal"] = principal  # type: ignore[typeddict-unknown-key]
    await socket.connect()
    assert (await socket.receive_output(timeout=5))["code"] == code
