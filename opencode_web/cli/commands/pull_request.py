"""`opencode-web pr NUMBER`: a worktree with the files of a pull request, and a session in it."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.remote.launcher import wanted
from opencode_web.bridge.remote.link import Link
from opencode_web.cli.terminal import Stop, plain, say
from sessions.changes.worktrees.pulls import Head, fetch, fill, name_of, title_of

GH = ("gh", "pr", "view", "{}", "--json", "title")
GLAB = ("glab", "mr", "view", "{}", "-F", "json")
"""The programs of GitHub and of GitLab, which tell of one as JSON."""


def check_out(arguments: argparse.Namespace, directory: Path) -> None:
    """Raise Stop where the pull request cannot be had, or no worktree made of it. The commits are fetched
    with the person's own git, which knows how they sign in there."""
    head = fetch(partial(_git, directory), arguments.remote, arguments.number)
    title = _title(directory, arguments.number, head.ref)
    try:
        link = Link(wanted(os.environ, None, str(directory)))
        folder, branch, session = asyncio.run(_open(link, arguments.number, title, head))
    except (ValueError, RemoteError) as error:
        raise Stop(str(error)) from error
    say(f"{plain(title)}, on the branch {branch}")
    say(f"Worktree  {folder}")
    say(f"Session   {session}")
    say(f"Go on with: opencode-web run --session {session} MESSAGE, or in the page: opencode-web {folder}")


def _title(directory: Path, number: int, ref: str) -> str:
    """By the forge's program where it is there and knows, else the number alone."""
    words = GLAB if ref.startswith("refs/merge-requests/") else GH
    program = shutil.which(words[0])
    if program is None:
        return title_of(number, "")
    asked = [program, *(word.format(number) for word in words[1:])]
    done = subprocess.run(
        asked, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    try:
        said = str(json.loads(done.stdout)["title"]) if done.returncode == 0 else ""
    except (ValueError, TypeError, KeyError):
        said = ""
    return title_of(number, plain(said)[:200])


async def _open(link: Link, number: int, title: str, head: Head) -> tuple[str, str, str]:
    """The folder and the branch of a new worktree with its files, and the id of a session in it."""
    async with link:
        made = await link.post("/experimental/worktree", {"name": name_of(number)})
        folder = str(made["directory"])
        await asyncio.to_thread(fill, partial(_git, Path(folder)), str(made["branch"]), head)
        session = await link.request("POST", "/session", body={"title": title}, directory=folder)
        return folder, str(made["branch"]), str(session["id"])


def _git(directory: Path, *arguments: str) -> str:
    """What git prints. Raise Stop with its words where it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=directory, capture_output=True, check=False)
    except OSError as error:
        raise Stop(f"git cannot be started: {error.strerror}") from error
    if done.returncode:
        raise Stop(f"git {arguments[0]} failed: {plain(done.stderr.decode('utf-8', 'replace'))}")
    return done.stdout.decode("utf-8", "replace").strip()
