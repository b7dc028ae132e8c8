"""The files that a request to edit proposes: what they hold, what a person may allow in place of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.diffs.hunks import FileDiff, hunks, parse, without
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.changes.tracking import tracker
from sessions.core.models import PermissionRequest
from sessions.core.text import visible
from sessions.rendering.tools import relative

EDITABLE = 256 * 1024
"""Bytes of a proposed content up to which it can be changed by hand."""

_HAPPENS = {"add": gettext_noop("new file"), "delete": gettext_noop("is removed")}
_LONE_RETURN = re.compile(r"\r(?!\n)")

Picks = Mapping[int, Collection[str]]
"""By the number of a file the keys of the hunks that are allowed."""


class NothingLeft(ValueError):
    """Nothing of a proposal would be allowed; the text is for the person."""


@dataclass(frozen=True)
class Proposal:
    """One file: `path` names it in an answer, `before` and `after` are its contents (empty: no file), None
    where they are not at hand: then there is only `patch`, the diff as the tool wrote it. `apart` are the
    addresses of contents that are too large for the request."""

    number: int
    path: str
    name: str
    happens: str
    before: str | None
    after: str | None
    patch: str
    kind: str = ""
    apart: tuple[str, str] | None = None

    @property
    def known(self) -> bool:
        return self.before is not None and self.after is not None

    @cached_property
    def diff(self) -> FileDiff:
        return hunks(_bytes(self.before), _bytes(self.after)) if self.known else parse(self.patch)

    @property
    def exact(self) -> bool:
        """Whether the contents are what they were: U+FFFD may stand for what a database could not keep."""
        return self.known and "\ufffd" not in f"{self.before}{self.after}"

    @property
    def keys(self) -> list[str]:
        """Of the hunks that can be allowed one by one; none where they cannot."""
        return [hunk.key for hunk in self.diff.hunks] if self.exact else []

    @property
    def editable(self) -> bool:
        """Whether a text field can hold the proposed content and give it back as it was."""
        text = self.after
        if not self.exact or text is None or self.kind == "delete":
            return False
        return "\0" not in text and not _LONE_RETURN.search(text) and len(_bytes(text)) <= EDITABLE

    def picked(self, keys: Collection[str]) -> str:
        """The content with only these hunks of the proposal."""
        left = [key for key in self.keys if key not in keys]
        return without(_bytes(self.before), _bytes(self.after), left).decode("utf-8", "surrogatepass")

    def typed(self, text: str) -> str:
        """What a text field sent, with the line ends of the proposal."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.replace("\n", "\r\n") if "\r\n" in (self.after or "") else text

    def changed_to(self, content: str) -> Proposal:
        """The same file with another content proposed."""
        return replace(self, after=content)


def proposals(row: PermissionRequest) -> list[Proposal]:
    """The files of a request to edit; empty for any other. Contents that are kept apart are left out."""
    if row.permission != "edit" or "command" in row.metadata:
        return []
    root = row.session.project.worktree
    return [_proposal(number, file, root) for number, file in enumerate(_given(row.metadata))]


def whole_proposals(row: PermissionRequest) -> list[Proposal]:
    """The same with all contents; blocks, as some may be on the disk."""
    return [_whole(file, row) if file.apart else file for file in proposals(row)]


def replacement(files: Iterable[Proposal], picks: Picks, typed: Mapping[int, str]) -> dict[str, str | None]:
    """What is allowed in place of the proposed contents, by path (None: the file stays as it is); empty when
    all is allowed as proposed.

    Contents are made here from the names of the hunks; what was typed counts only for a file that can be
    edited. Raises NothingLeft.
    """
    made: dict[str, str | None] = {}
    left = False
    for file in files:
        content = file.after
        if file.number in typed and file.editable:
            content = file.typed(typed[file.number])
        elif file.number in picks and file.keys:
            content = file.picked(picks[file.number])
        withheld = content == file.before and content != file.after
        left |= not withheld
        if content != file.after:
            made[file.path] = None if withheld else content
    if not left:
        raise NothingLeft(gettext("This would leave everything as it is. Reject it instead, and say why."))
    return made


def _whole(file: Proposal, row: PermissionRequest) -> Proposal:
    objects = tracker(row.session.project).objects
    try:
        before, after = (objects.get(oid) if oid else b"" for oid in file.apart or ("", ""))
    except (ObjectMissing, OSError):
        return replace(file, apart=None)
    return replace(file, before=before.decode("utf-8", "replace"), after=after.decode("utf-8", "replace"))


def _given(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = data.get("files")
    found = listed if isinstance(listed, list) else []
    files: list[Mapping[str, Any]] = [file for file in found if isinstance(file, dict)]
    return files or [data]


def _proposal(number: int, file: Mapping[str, Any], root: str) -> Proposal:
    given = file.get("filediff", file)
    texts = given if isinstance(given, dict) else {}
    path = str(file.get("filepath", ""))
    kind = str(file.get("type", ""))
    happens = gettext(_HAPPENS.get(kind, ""))
    if file.get("movePath"):
        happens = gettext("moved from %(path)s") % {"path": visible(str(file["movePath"]))}
    before, after = _pair(texts, "before", "after") or (None, None)
    return Proposal(
        number=number,
        path=path,
        name=visible(str(file.get("relativePath") or relative(path, root))),
        happens=happens,
        before=before,
        after=after,
        patch=str(file.get("diff", "")),
        kind=kind,
        apart=_pair(texts, "beforeObject", "afterObject"),
    )


def _pair(texts: Mapping[str, Any], first: str, second: str) -> tuple[str, str] | None:
    one, other = texts.get(first), texts.get(second)
    return (one, other) if isinstance(one, str) and isinstance(other, str) else None


def _bytes(text: str | None) -> bytes:
    return (text or "").encode("utf-8", "surrogatepass")
