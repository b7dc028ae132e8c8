"""OpenCode's file storage: one JSON file a record."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sessions.core.sentences import Sentence, sentence_of

from .json_file import load, load_object
from .layouts import Layout, layouts, objects_of
from .records import Conversation, Header, Problem, Unreadable, Wire, mapping, number, text


class Folder:
    """Either layout, or both beside one another."""

    kind = "file storage"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self._layouts = layouts(path)
        self._files: dict[str, tuple[Layout, Wire]] = {}

    def headers(self) -> list[Header]:
        """Of a session in both layouts the newer form counts."""
        if not self._layouts:
            raise Unreadable(
                Sentence(
                    "%(path)s is no file storage of OpenCode: it has no folder `session`", path=self.path
                )
            )
        self.problems.clear()
        found: dict[str, Header] = {}
        for layout in self._layouts:
            worktrees = self._worktrees(layout)
            for file in layout.sessions():
                if info := self._info(layout, file):
                    header = _header(layout, info, worktrees)
                    if header.id not in found:
                        found[header.id] = header
                        self._files[header.id] = layout, info
        return list(found.values())

    def read(self, header: Header) -> Conversation:
        layout, info = self._files[header.id]
        objects = objects_of(layout.root.parent, header.project)
        read = Conversation(info=info, worktree=header.worktree, objects=objects)
        for file in _files(layout.messages(header.id)):
            message = self._record(file, read.problems)
            if message is not None:
                parts = [
                    self._record(part, read.problems) for part in _files(layout.parts(header.id, file.stem))
                ]
                read.entries.append({"info": message, "parts": [part for part in parts if part is not None]})
        read.todos = self._list(layout.todos(header.id), read.problems)
        read.diffs = self._list(layout.diffs(header.id), read.problems)
        return read

    def size(self) -> int:
        return sum(_size(layout.root) for layout in self._layouts)

    def leftovers(self, headers: Sequence[Header]) -> Iterator[Problem]:
        known = {header.id for header in headers}
        listings = (_files(layout.messages(id)) for layout in self._layouts for id in known)
        messages = {file.stem for files in listings for file in files}
        for layout in self._layouts:
            for folder in layout.conversations():
                if folder.name not in known:
                    yield self._problem(
                        folder, Sentence("messages of a session that is missing or cannot be read")
                    )
            for folder in layout.answers():
                if folder.name not in messages:
                    yield self._problem(folder, Sentence("parts of a message that is missing"))

    def close(self) -> None:
        """Nothing stays open."""

    def _info(self, layout: Layout, file: Path) -> Wire | None:
        info = self._record(file, self.problems)
        if info is None:
            return None
        info.setdefault("id", file.stem)
        if layout.by_project:
            info.setdefault("projectID", file.parent.name)
        if info["id"] != file.stem:
            self.problems.append(
                self._problem(file, Sentence("names itself %(info)s", info=repr(str(info["id"])[:40])))
            )
            return None
        return info

    def _worktrees(self, layout: Layout) -> dict[str, str]:
        """The folder of each project by its id. The first form knows it from its messages alone."""
        found = {}
        for file in layout.projects():
            if (project := self._record(file, self.problems)) is not None:
                found[file.stem] = text(project.get("worktree"))
        return found

    def _record(self, file: Path, problems: list[Problem]) -> Wire | None:
        try:
            return load_object(file)
        except Unreadable as error:
            problems.append(self._problem(file, sentence_of(error)))
            return None

    def _list(self, file: Path, problems: list[Problem]) -> list[Wire]:
        """What is no object in it is passed over."""
        if not file.exists():
            return []
        try:
            found: Any = load(file)
        except Unreadable as error:
            problems.append(self._problem(file, sentence_of(error)))
            return []
        return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []

    def _problem(self, file: Path, reason: str) -> Problem:
        return Problem(str(file.relative_to(self.path)), reason)


def _header(layout: Layout, info: Wire, worktrees: dict[str, str]) -> Header:
    session, project = text(info["id"]), text(info.get("projectID"))
    worktree = worktrees.get(project, "")
    messages = _files(layout.messages(session))
    if not info.get("directory"):
        info["directory"] = _directory(messages) or worktree
    return Header(
        id=session,
        parent=text(info.get("parentID")),
        title=text(info.get("title")),
        directory=text(info["directory"]),
        worktree=worktree if worktree != "/" else "",
        project=project,
        updated=number(mapping(info.get("time")).get("updated")),
        messages=len(messages),
    )


def _directory(messages: Sequence[Path]) -> str:
    """The folder that answers of a session without one were given in."""
    for file in messages:
        try:
            path = mapping(load_object(file).get("path"))
        except Unreadable:
            continue
        if found := text(path.get("cwd")) or text(path.get("root")):
            return found
    return ""


def _files(folder: Path) -> list[Path]:
    """JSON files in the order of their names, which is the order of their times."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    return [folder / name for name in names]


def _size(root: Path) -> int:
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total
