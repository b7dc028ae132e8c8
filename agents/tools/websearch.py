"""`websearch`: the web through a configured service; absent without one. Source: seed 004 §6.2."""

from __future__ import annotations

from agents.tools.shared.web.search import search_tool

DESCRIPTION = """\
Search the web and get titles, addresses and short texts, best first. Use it for what is newer than what you \
know or not in the project; then read the pages that matter with `webfetch`."""

TOOL = search_tool("websearch", DESCRIPTION)
