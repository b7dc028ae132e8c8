"""The names of the tools that come with the program, for a page that must not load the tools."""

from __future__ import annotations

NAMES = frozenset(
    "apply_patch bash batch codesearch edit glob grep invalid list multiedit plan_enter plan_exit"
    " question read skill task todoread todowrite webfetch websearch write".split()
)
"""Those of `registry.BUILTIN`, which a test holds against them."""
