"""A file of which both sides have their own: by parts what was there before, what is ours, what is theirs,
and the file that comes of a choice between them."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext

from sessions.changes.diffs.hunks import is_binary
from sessions.changes.diffs.lines import split_lines
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.discarding import Wanted, checked_out, gone
from sessions.changes.git.index import Changed, stage
from sessions.changes.git.ongoing import ongoing
from sessions.changes.review.conflicts import LARGEST, Sides, by_hand, open_merge
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.merge import Conflict

Kind = Literal["text", "binary", "removed", "submodule"]
Take = Literal["ours", "theirs", "parts", "disk"]
_MARK = re.compile(rb"(<{7}|>{7}|\|{7}) ")
_AROUND = 3
"""Lines that are shown before and after a part."""
_COMMITS = {
    "merge": "MERGE_HEAD",
    "rebase": "REBASE_HEAD",
    "cherry-pick": "CHERRY_PICK_HEAD",
    "revert": "REVERT_HEAD",
}
_ENTRY = re.compile(r"([0-7]{6}) ([0-9a-f]{40,64}) ([123])")


@dataclass(frozen=True, slots=True)
class Side:
    """What the index has of a file for one side; `content` is None for a submodule."""

    mode: int
    address: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch on which the sides do not agree, with the lines around it. All as text."""

    number: int
    line: int
    before: str
    ours: str
    base: str
    theirs: str
    after: str


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A file in conflict. `seen` is another where anything of it is; `entries` put the conflict back
    (`reopen`). `marks` are the lines of the file on the disk that still have git's marks."""

    path: str
    kind: Kind
    base: Side | None
    ours: Side | None
    theirs: Side | None
    seen: str
    entries: str
    marks: tuple[int, ...]

    @property
    def merge(self) -> Sides:
        """Of a text."""
        contents = [(side and side.content) or b"" for side in (self.base, self.ours, self.theirs)]
        return open_merge(contents[0], contents[1], contents[2], self.seen, close=True)

    @property
    def parts(self) -> list[Part]:
        pieces = self.merge.pieces
        found: list[Part] = []
        for number, piece in enumerate(pieces):
            if isinstance(piece, Conflict):
                before, after = _lines(pieces[number - 1])[-_AROUND:], _lines(pieces[number + 1])[:_AROUND]
                contents = (b"".join(before), piece.current, piece.base, piece.other, b"".join(after))
                texts = (content.decode("utf-8", "replace") for content in contents)
                found.append(Part(len(found), piece.line, *texts))
        return found


def unmerged(git: Git, path: str) -> Unmerged:
    """Raises GitError, also where the file is in no conflict any more."""
    output = os.fsdecode(git.read("ls-files", "--unmerged", "-z", "--", path))
    entries = [entry.partition("\t")[0] for entry in output.split("\0") if entry]
    found = {entry.rpartition(" ")[2]: _side(git, entry) for entry in entries}
    if not found:
        raise Changed(gettext("This file is in no conflict any more."))
    base, ours, theirs = (found.get(number) for number in "123")
    now = _on_disk(git, path)
    seen = object_id("\n".join(entries).encode() + b"\0" + (b"-" if now is None else b"+" + now))
    marks = tuple(number for number, line in enumerate(split_lines(now or b""), 1) if _MARK.match(line))
    return Unmerged(path, _kind(base, ours, theirs), base, ours, theirs, seen, "\n".join(entries), marks)


def resolution(git: Git, path: str, seen: str, take: str, given: Mapping[str, str]) -> Wanted | None:
    """What the file is to be on the disk, None where it stays: with `parts` as a form has it (`choice-N` is
    ours, theirs, both, or hand with `text-N`). Raises Changed where it was not `seen` so, GitError."""
    file = unmerged(git, path)
    if file.seen != seen:
        raise Changed(gettext("The file or its conflict has changed since it was shown. Look at it again."))
    if take == "disk":
        return None
    if take in ("ours", "theirs"):
        side = file.ours if take == "ours" else file.theirs
        if file.kind == "submodule":
            return None
        return checked_out(git, path, side.mode, side.address) if side else gone(git, path)
    if take != "parts" or file.kind != "text":
        raise GitError(gettext("There is no such choice."))
    merge = file.merge
    answers = [_answer(conflict, number, given) for number, conflict in enumerate(merge.conflicts)]
    address = git.read("hash-object", "-w", "--stdin", stdin=merge.settled(answers)).decode().strip()
    side = file.ours or file.theirs
    return checked_out(git, path, side.mode if side else stat.S_IFREG | 0o644, address)


def settle(git: Git, path: str, take: str) -> None:
    """The conflict is over: what is on the disk is staged, of a submodule the commit of a side. Raises
    GitError."""
    file = unmerged(git, path)
    side = {"ours": file.ours, "theirs": file.theirs}.get(take)
    if file.kind != "submodule" or take == "disk":
        stage(git, [path])
    elif side:
        _put(git, path, f"{side.mode:o} {side.address} 0")
    else:
        git.write("rm", "--cached", "--quiet", "--force", "--", path)


def reopen(git: Git, path: str, entries: str) -> None:
    """The file is in conflict again, with what it was in conflict about. Raises GitError."""
    lines = entries.split("\n")
    if not all(_ENTRY.fullmatch(line) for line in lines):
        raise GitError(gettext("This was no conflict."))
    _put(git, path, f"0 {'0' * 40}", *lines)


def sides_named(git: Git) -> tuple[str, str]:
    """What `ours` and `theirs` are: in a rebase ours is where it goes to, and theirs one's own commit."""
    now = ongoing(git)
    branch = git.asked("symbolic-ref", "--quiet", "--short", "HEAD")
    here = branch or _named(git, "HEAD")
    there = _named(git, _COMMITS.get(now.act, "")) if now else ""
    if now and now.act == "rebase":
        onto = gettext("onto %(commit)s") % {"commit": _named(git, "HEAD")}
        return onto, gettext("the commit %(commit)s") % {"commit": there} if there else gettext("the commit")
    if now and now.act == "revert":
        return here, gettext("without %(commit)s") % {"commit": there}
    return here, there or gettext("what was put aside")


def _named(git: Git, ref: str) -> str:
    return git.asked("log", "-1", "--no-walk", "--format=%h %s", ref, "--") if ref else ""


def _side(git: Git, entry: str) -> Side:
    mode, address, _ = entry.split(" ")
    if int(mode, 8) == 0o160000:
        return Side(int(mode, 8), address, None)
    return Side(int(mode, 8), address, git.read("cat-file", "blob", address))


def _kind(base: Side | None, ours: Side | None, theirs: Side | None) -> Kind:
    sides = [side for side in (base, ours, theirs) if side]
    contents = [side.content for side in sides if side.content is not None]
    if len(contents) < len(sides):
        return "submodule"
    if not ours or not theirs:
        return "removed"
    if any(is_binary(content) or len(content) > LARGEST for content in contents):
        return "binary"
    return "text" if all(stat.S_ISREG(side.mode) for side in (ours, theirs)) else "binary"


def _answer(conflict: Conflict, number: int, given: Mapping[str, str]) -> bytes:
    match given.get(f"choice-{number}", ""):
        case "ours":
            return conflict.current
        case "theirs":
            return conflict.other
        case "both":
            first = conflict.current
            return (first + b"\n" if first and not first.endswith(b"\n") else first) + conflict.other
        case "hand":
            return by_hand(given.get(f"text-{number}", ""), conflict)
        case _:
            raise GitError(gettext("Choose what the file shall have in each part."))


def _on_disk(git: Git, path: str) -> bytes | None:
    file = git.top / path
    try:
        return os.fsencode(os.readlink(file)) if file.is_symlink() else file.read_bytes()
    except OSError:
        return None


def _lines(piece: bytes | Conflict) -> list[bytes]:
    return split_lines(piece) if isinstance(piece, bytes) else []


def _put(git: Git, path: str, *entries: str) -> None:
    listed = "".join(f"{entry}\t{path}\0" for entry in entries)
    git.write("update-index", "-z", "--index-info", stdin=os.fsencode(listed))
