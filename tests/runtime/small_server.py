"""An MCP server written with the Python SDK as its first examples are: a program of its own."""

from __future__ import annotations

import base64

from mcp.server.mcpserver import Image, MCPServer

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

server = MCPServer("small")


@server.resource("data://config")
def config() -> str:
    return "the colour is green"


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
def greet(name: str) -> str:
    return f"Hello, {name}"


@server.tool()
def names() -> list[str]:
    return ["one", "two"]


@server.tool()
def look() -> Image:
    return Image(data=base64.b64decode(PNG), format="png")


if __name__ == "__main__":
    server.run()
