"""The tree of a review's files, folders with a single folder in them joined. Built in Python: there may be
hundreds of rows, and each is small."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape

from django.utils.safestring import SafeString, mark_safe

from sessions.core.text import visible, wellformed

from .blocks import counts
from .files import FileRow


@dataclass(slots=True)
class _Folder:
    folders: dict[str, _Folder] = field(default_factory=dict)
    files: list[FileRow] = field(default_factory=list)


def tree(rows: Iterable[FileRow]) -> SafeString:
    """Nested lists; folders first, each with what is in it."""
    root = _Folder()
    for row in rows:
        folder = root
        for name in row.name.split("/")[:-1]:
            folder = folder.folders.setdefault(name, _Folder())
        folder.files.append(row)
    return mark_safe(wellformed("".join(_list(root))))  # noqa: S308 (escaped in _list and _row)


def tree_row(file: FileRow) -> SafeString:
    """One file's row."""
    return mark_safe(wellformed(_row(file)))  # noqa: S308 (escaped in _row)


def _row(file: FileRow) -> str:
    path = escape(visible(file.name))
    classes = "tree-file viewed" if file.viewed else "tree-file"
    tag = f'<span class="tree-tag" data-state="{file.tone}">{file.tag}</span>' if file.tag else ""
    viewed = '<span class="visually-hidden">, viewed</span>' if file.viewed else ""
    return (
        f'<li id="{file.id}-row" class="{classes}" data-name="{path}">'
        f'<button type="button" data-jump="{file.id}" title="{path}">'
        f'<span class="state" data-state="{file.letter}" title="{file.word}">{file.letter}</span>'
        f'<span class="tree-name">{path.rpartition("/")[2]}</span>{tag}{counts(file)}{viewed}</button></li>'
    )


def _list(folder: _Folder) -> Iterator[str]:
    yield "<ul>"
    for name, inner in sorted(folder.folders.items()):
        while len(inner.folders) == 1 and not inner.files:
            ((below, inner),) = inner.folders.items()
            name = f"{name}/{below}"
        safe = escape(visible(name))
        yield f'<li class="tree-folder"><details open data-folder="{safe}"><summary>{safe}</summary>'
        yield from _list(inner)
        yield "</details></li>"
    yield from (_row(file) for file in folder.files)
    yield "</ul>"
