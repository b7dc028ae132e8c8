"""Search a project for people: file names by fuzzy words, contents by regular expression; ripgrep does it."""

from __future__ import annotations

from sessions.project.search.listing import ending_with, find_files
from sessions.project.search.ripgrep import find_text

from .ignoring import ignored
from .ranking import rank
from .ripgrep import SearchFailed, binary

__all__ = ["SearchFailed", "binary", "ending_with", "find_files", "find_text", "ignored", "rank"]
