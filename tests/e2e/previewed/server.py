"""`python server.py PORT` serves the pages beside it, and tells its own port to who listens on PORT."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from aiohttp import web

HERE = Path(__file__).parent
HOSTILE = {
    "Clear-Site-Data": '"cookies", "storage"',
    "Service-Worker-Allowed": "/",
    "Set-Cookie": "opencode_web_evil=1; Path=/",
    "Access-Control-Allow-Origin": "*",
}


async def page(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    return web.Response(
        text=(HERE / f"{name}.html").read_text(),
        content_type="text/html",
        headers=HOSTILE if name == "hostile" else {},
    )


async def home(request: web.Request) -> web.Response:
    raise web.HTTPFound("/page/friendly")


async def echo(request: web.Request) -> web.Response:
    return web.json_response(dict(request.headers))


async def worker(request: web.Request) -> web.Response:
    return web.Response(text="onfetch = () => {};", content_type="text/javascript")


async def live(request: web.Request) -> web.WebSocketResponse:
    socket = web.WebSocketResponse()
    await socket.prepare(request)
    async for message in socket:
        await socket.send_str(f"You said {message.data}")
    return socket


async def main(door: int) -> None:
    application = web.Application()
    routes = {"/": home, "/page/{name}": page, "/echo": echo, "/worker.js": worker, "/live": live}
    application.add_routes([web.get(path, answer) for path, answer in routes.items()])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    _, writer = await asyncio.open_connection("127.0.0.1", door)
    writer.write(f"{runner.addresses[0][1]}\n".encode())
    await writer.drain()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
