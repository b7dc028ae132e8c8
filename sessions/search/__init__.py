"""Search a project for people: file names by fuzzy words, contents by regular expression; ripgrep does it."""

from __future__ import annotations

from .files import find_files
from .ignoring import ignored
from .ranking import rank
from .ripgrep import SearchFailed, binary
from .text import find_text

__all__ = ["SearchFailed", "binary", "find_files", "find_text", "ignored", "rank"]
