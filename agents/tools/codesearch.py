"""`codesearch`: examples of code from a configured service; absent without one."""

from __future__ import annotations

from agents.toolkit.shared.web.search import search_tool

DESCRIPTION = """\
Search for examples and documentation of libraries, interfaces and error messages. Name the library and what \
you want to do with it. For code of this project use `grep`."""

TOOL = search_tool("codesearch", DESCRIPTION)
