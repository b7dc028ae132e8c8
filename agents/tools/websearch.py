"""`websearch`: the web through a configured service; absent without one."""

from __future__ import annotations

from agents.toolkit.shared.web.search import search_tool

DESCRIPTION = """\
Search the web and get titles, addresses and short texts, best first. Use it for what is newer than what you \
know or not in the project; then read the pages that matter with `webfetch`."""

TOOL = search_tool("websearch", DESCRIPTION)
