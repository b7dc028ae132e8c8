"""Ask the search service that the environment names; the `websearch` and `codesearch` tools are two of it.

`OPENCODE_WEBSEARCH_URL` and `OPENCODE_CODESEARCH_URL` are addresses with `{query}` in them (for example a
SearXNG instance with `format=json`); `…_KEY`, where given, is sent as a bearer token.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from pydantic import BaseModel, Field

from agents.llm import bounded
from agents.toolkit.base import Tool, ToolContext, ToolError, ToolResult
from agents.toolkit.turn import Turn
from sessions.core import variables
from sessions.core.text import error_text

if TYPE_CHECKING:
    import httpx

_SERVICES = {
    "WEBSEARCH": (variables.WEBSEARCH_URL, variables.WEBSEARCH_KEY),
    "CODESEARCH": (variables.CODESEARCH_URL, variables.CODESEARCH_KEY),
}
SECONDS = 30.0
MAX_BYTES = 2 * 1024 * 1024
_LISTS = ("results", "items", "data", "hits", "documents")
_TEXTS = ("content", "snippet", "description", "text", "summary", "body", "code")


@dataclass(frozen=True, slots=True)
class Service:
    """`url` has `{query}` in it; `key` is empty where none is needed."""

    url: str
    key: str

    async def ask(self, query: str, most: int) -> str:
        """The results as text, best first. Raises ToolError."""
        import httpx  # 70 ms: not before the first search

        headers = {
            "Accept": "application/json",
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        }
        try:
            client = bounded.client(MAX_BYTES, timeout=SECONDS, headers=headers, follow_redirects=True)
            async with client:
                response = await client.get(self.url.replace("{query}", quote(query, safe="")))
                response.raise_for_status()
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ToolError(f"The search service did not answer: {error_text(error)}.") from error
        return _text(response, most)


def service(kind: str, environ: Mapping[str, str] = os.environ) -> Service | None:
    """The service for `WEBSEARCH` or `CODESEARCH`; None when none is configured."""
    url, key = (variable.read(environ) for variable in _SERVICES[kind])
    return Service(url, key) if "{query}" in url else None


def _text(response: httpx.Response, most: int) -> str:
    try:
        found = _results(json.loads(response.content))
    except ValueError:
        return response.text.strip()
    return "\n\n".join(_line(number, item) for number, item in enumerate(found[:most], 1))


def _results(answer: Any) -> Sequence[Any]:
    """The first list of results, whatever the service calls it."""
    if isinstance(answer, list):
        return answer
    if not isinstance(answer, dict):
        return []
    lists = (answer[name] for name in _LISTS if isinstance(answer.get(name), list))
    nested = (_results(value) for value in answer.values() if isinstance(value, dict))
    return next(lists, None) or next((found for found in nested if found), [])


def _line(number: int, item: Any) -> str:
    if not isinstance(item, dict):
        return f"{number}. {item}"
    text = next((str(item[name]) for name in _TEXTS if item.get(name)), "")
    head = " ".join(str(item.get(name) or "") for name in ("title", "url")).strip()
    return f"{number}. {head}\n{text.strip()}".strip()


class Input(BaseModel):
    query: str = Field(min_length=1, max_length=500, description="What to search for.")
    limit: int = Field(8, ge=1, le=20, description="The most results to return.")


def search_tool(name: str, description: str) -> Tool[Input]:
    """A tool that asks the service of this name, and is offered only where one is configured."""
    kind = name.upper()

    async def execute(args: Input, ctx: ToolContext) -> ToolResult:
        found = service(kind)
        if found is None:
            raise ToolError("No search service is configured.")
        await ctx.ask(name, [args.query], always=["*"], metadata={"query": args.query})
        text = await found.ask(args.query, args.limit)
        return ToolResult(args.query, text or "Nothing was found.", {"query": args.query})

    def offered(turn: Turn) -> bool:
        return service(kind) is not None

    return Tool(name, description, Input, execute, name, offered=offered)
