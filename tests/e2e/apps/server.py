"""An MCP server with apps, by the `mcp` package: `python server.py DOCUMENT…`, each the HTML of one app
with its name as the tool's. What it is asked for is written beside them, a line each."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mcp.server.apps import Apps, ResourceCsp, client_supports_apps
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent

REACHES = ResourceCsp(
    connect_domains=["https://api.example.com", "http://127.0.0.1:1", "https://localhost", "*"],
    resource_domains=["https://cdn.example.com", "https://evil.example; script-src *"],
)


def server(documents: list[Path]) -> MCPServer:
    apps = Apps()
    log = documents[0].with_name("asked.log")

    def note(**asked: Any) -> None:
        with log.open("a") as file:
            file.write(json.dumps(asked) + "\n")

    def shown(city: str, context: Context[Any]) -> CallToolResult:
        """Show the weather of a city."""
        note(tool="shown", city=city, apps=client_supports_apps(context))
        data = {"city": city, "degrees": 21}
        text = TextContent(type="text", text=f"21 degrees in {city}")
        return CallToolResult(content=[text], structured_content=data, _meta={"source": "a station"})

    for document in documents:
        uri = f"ui://test/{document.stem}"
        csp = REACHES if document.stem == "reaching" else None
        apps.add_html_resource(uri, document.read_text(), csp=csp)
        apps.tool(resource_uri=uri, name=document.stem)(shown)

    first = f"ui://test/{documents[0].stem}"

    @apps.tool(resource_uri=first, visibility=["app"])
    def refresh(city: str) -> str:
        """Only for the app."""
        note(tool="refresh", city=city)
        return f"22 degrees in {city}"

    @apps.tool(resource_uri=first, visibility=["app"])
    def note_down(text: str) -> str:
        """Write into the project."""
        Path("noted.txt").write_text(text)
        return "noted"

    @apps.tool(resource_uri=first, visibility=["model"])
    def secret() -> str:
        """Only for the model."""
        note(tool="secret")
        return "secret"

    return MCPServer("weather", extensions=[apps])


if __name__ == "__main__":
    server([Path(name) for name in sys.argv[1:]]).run()
