"""Scripts and style sheets of a page as one file of each kind, made of their sources when first asked for.

A module becomes a function that gives what the module exports, in the order in which a browser runs modules.
What a script imports only when it is used (`import("./terminal-panel.js")`) stays a module of its own, and
takes from the page's file what the page has already: no module runs twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_STATEMENT = re.compile(r"^(?:import|export)\b(?!\().*", re.MULTILINE)
_IMPORT = re.compile(r'import (?:(\{.*\}) from )?"(\./([\w-]+)\.js|\.\./[^"]+)";$')
_EXPORT = re.compile(r"export ((?:async )?(?:function|class|const) (\w+).*)")
_LATER = re.compile(r'\bimport\("\./([\w-]+)\.js"\)')
_REMARK = re.compile(r"^[ \t]*(?://.*)?\n|(?<=;)[ \t]+// [^\"`\n]*$", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
"""What begins a line in a string of several lines says something: no source has one."""
_CSS_REMARK = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_STRING = re.compile(r"""("[^"]*"|'[^']*')""")
_CSS_SPACE = re.compile(r"\s*([{};])\s*|(?<=[,:])\s+")
"""Remarks, indents and empty lines are for readers of the sources, and a sixth of what would be sent."""
_AWAITS = re.compile(r"^await ", re.MULTILINE)


class Unjoinable(Exception):
    """A source is not there, or is written in a way that cannot be joined."""


class Scripts:
    """The modules of a folder, read once."""

    def __init__(self, folder: Path) -> None:
        self._sources = {path.stem: _REMARK.sub("", path.read_text()) for path in folder.glob("*.js")}

    def page(self, names: Sequence[str]) -> str:
        """The modules of these names and all that they import. Raises Unjoinable."""
        order = self._order(names)
        pieces = [self._module(name, ",".join(names), order) for name in order]
        return "".join([*pieces, f"export {{ {', '.join(map(_variable, order))} }};\n"])

    def later(self, names: Sequence[str], name: str) -> str:
        """A module that the page of these names imports when it is used. Raises Unjoinable."""
        page, order = ",".join(names), self._order(names)
        self._order([name])
        taken = "".join(
            f'import {{ {_variable(other)} }} from "./{_address(page, other, order)}";\n'
            for other in self._imports(name)
        )
        return f"{taken}{self._module(name, page, order)}export {{ {_variable(name)} }};\n"

    def _order(self, names: Sequence[str]) -> list[str]:
        """Each module after those that it imports."""
        order: dict[str, None] = {}
        begun: set[str] = set()

        def add(name: str) -> None:
            if name in order:
                return
            if name in begun:
                raise Unjoinable(f"{name}.js imports itself by way of others")
            begun.add(name)
            for other in self._imports(name):
                add(other)
            order[name] = None

        for name in names:
            add(name)
        return list(order)

    def _imports(self, name: str) -> list[str]:
        if name not in self._sources:
            raise Unjoinable(f"there is no {name}.js")
        found = map(_IMPORT.match, _STATEMENT.findall(self._sources[name]))
        return [match[3] for match in found if match and match[3]]

    def _module(self, name: str, page: str, order: Sequence[str]) -> str:
        above: list[str] = []
        exports: list[str] = []

        def statement(match: re.Match[str]) -> str:
            if imported := _IMPORT.match(match[0]):
                names, address, own = imported.groups()
                variable = _variable(own) if own else f"{_variable(name)}${len(above)}"
                if not own:
                    above.append(f'import * as {variable} from "{address}";\n')
                return f"const {names.replace(' as ', ': ')} = {variable};" if names else ""
            if exported := _EXPORT.match(match[0]):
                exports.append(exported[2])
                return exported[1]
            raise Unjoinable(f"{name}.js: {match[0]}")

        def later(match: re.Match[str]) -> str:
            return f'import("./{_address(page, match[1], order)}").then((file) => file.{_variable(match[1])})'

        body = _LATER.sub(later, _STATEMENT.sub(statement, self._sources[name]))
        wait, is_async = ("await ", "async ") if _AWAITS.search(body) else ("", "")
        gives = f"return {{ {', '.join(exports)} }};\n" if exports else ""
        return f"{''.join(above)}const {_variable(name)} = {wait}({is_async}() => {{\n{body}{gives}}})();\n"


def _variable(name: str) -> str:
    return f"${name.replace('-', '_')}"


def _address(page: str, name: str, order: Sequence[str]) -> str:
    """Beside the page's file."""
    return f"{page}.js" if name in order else f"{page}+{name}.js"


def join(folder: Path, file: str) -> str:
    """`a,b.css`, `a,b.js`, or `a,b+c.js` for what a page imports when it is used: of the sources in `folder`.
    Raises Unjoinable."""
    stems, _, kind = file.rpartition(".")
    listed, _, later = stems.partition("+")
    names = listed.split(",")
    if len(set(names)) < len(names):
        raise Unjoinable(f"{file} names a source twice")
    if kind == "js":
        scripts = Scripts(folder / "js")
        return _INDENT.sub("", scripts.later(names, later) if later else scripts.page(names))
    sheets = {path.stem: path for path in (folder / "css").glob("*.css")}
    if kind != "css" or not sheets.keys() >= set(names):
        raise Unjoinable(f"there is no {file}")
    return "".join(_tightened(_CSS_REMARK.sub("", sheets[name].read_text())) for name in names)


def _tightened(sheet: str) -> str:
    """Without the white space that says nothing; in strings it does."""
    return "".join(
        piece if piece[:1] in ('"', "'") else _CSS_SPACE.sub(r"\1", piece)
        for piece in _CSS_STRING.split(sheet)
    )
