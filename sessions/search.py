"""Search a project for people: file names by fuzzy words, contents by regular expression; ripgrep does it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

TIMEOUT_SECONDS = 20
MAX_FILES = 200_000


class SearchFailed(Exception):
    """ripgrep is missing, refused the pattern or cannot read the folder; the text says which."""


def binary() -> str:
    """The program of this environment, else of PATH. Raises SearchFailed when there is none."""
    own = Path(sys.executable).with_name("rg")
    path = str(own) if own.is_file() else shutil.which("rg")
    if not path:
        raise SearchFailed("ripgrep (rg) is not installed.")
    return path


async def find_files(directory: Path, query: str, *, limit: int = 10, folders: bool = False) -> list[str]:
    """Paths relative to the folder whose letters contain those of `query` in order, the best first.

    Raises SearchFailed.
    """
    return await asyncio.to_thread(_find_files, directory, query, limit, folders)


def _find_files(directory: Path, query: str, limit: int, folders: bool) -> list[str]:
    listed = _run(directory, ["--files", "--hidden", "--glob=!.git", "--null"])
    paths = listed.decode("utf-8", "replace").split("\0")[:-1][:MAX_FILES]
    if folders:
        paths += sorted({f"{parent}/" for path in paths for parent in Path(path).parents if parent.name})
    return rank(paths, query, limit)


def rank(paths: list[str], query: str, limit: int) -> list[str]:
    """Matches in the file's name before matches in its folders, contiguous before scattered, short first."""
    wanted = query.lower().strip().replace(" ", "")
    if not wanted:
        return sorted(paths, key=lambda path: (path.count("/"), path))[:limit]
    # Possessive, so that a letter is looked for once: no path makes this slower than its length.
    in_order = re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted))
    scored = [
        (_score(path.lower(), wanted), len(path), path) for path in paths if in_order.match(path.lower())
    ]
    return [path for _, _, path in sorted(scored)[:limit]]


def _score(path: str, wanted: str) -> int:
    """Lower is better, for a path that has the letters in order."""
    name = path.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        return 0
    if wanted in name:
        return 1
    return 2 if wanted in path else 3


async def find_text(directory: Path, pattern: str, *, limit: int = 10) -> list[dict[str, Any]]:
    """Matches as ripgrep's JSON has them: path, lines, line_number, absolute_offset, submatches."""
    arguments = [
        "--json",
        "--hidden",
        "--glob=!.git",
        "--max-count=50",
        "--max-columns=2000",
        "-e",
        pattern,
        "--",
    ]
    output = await asyncio.to_thread(_run, directory, [*arguments, "."])
    found: list[dict[str, Any]] = []
    for line in output.splitlines():
        if len(found) >= limit:
            break
        record = json.loads(line)
        if record["type"] == "match":
            found.append(_match(record["data"]))
    return found


def _match(data: dict[str, Any]) -> dict[str, Any]:
    """Text that is not UTF-8 comes as base64 bytes, which the wire has no place for."""
    return {
        "path": {"text": data["path"].get("text", "").removeprefix("./")},
        "lines": {"text": data["lines"].get("text", "")},
        "line_number": data["line_number"],
        "absolute_offset": data["absolute_offset"],
        "submatches": [
            {"match": {"text": item["match"].get("text", "")}, "start": item["start"], "end": item["end"]}
            for item in data["submatches"]
        ],
    }


def ignored(directory: Path, entries: list[Path]) -> set[Path]:
    """Which of these git ignores; none outside of a git repository.

    The repository's own configuration may name a program that git starts whenever it reads the index.
    """
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(directory), "check-ignore", "-z", "--stdin"]
    names = b"\0".join(os.fsencode(entry) for entry in entries)
    try:
        done = subprocess.run(command, input=names, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return set()
    return {Path(os.fsdecode(name)) for name in done.stdout.split(b"\0") if name}


def _run(directory: Path, arguments: list[str]) -> bytes:
    command = [binary(), "--no-config", "--no-messages", *arguments]
    try:
        done = subprocess.run(
            command, cwd=directory, capture_output=True, timeout=TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SearchFailed(f"The search took longer than {TIMEOUT_SECONDS} seconds.") from error
    except OSError as error:
        raise SearchFailed(f"{directory} cannot be searched: {error.strerror}") from error
    if done.returncode == 2 and not done.stdout:
        raise SearchFailed(done.stderr.decode("utf-8", "replace").strip() or "ripgrep failed")
    return done.stdout
