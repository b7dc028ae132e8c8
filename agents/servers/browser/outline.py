"""The accessibility tree of a page as an indented text, with a short ref for what can be acted on."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MOST_NAME = 300
"""Characters of a name, a value or an address."""
_THROUGH = frozenset(
    "none generic InlineTextBox strong emphasis code time mark subscript superscript insertion deletion"
    " Section Pre ListMarker LayoutTable LayoutTableRow LayoutTableCell RootWebArea WebArea Abbr".split()
)
"""Roles of which nothing is told but what is in them."""
_TEXT = "StaticText"
_SILENT = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
_ACTS = frozenset(
    "button link textbox searchbox combobox listbox checkbox radio switch slider spinbutton tab menuitem"
    " menuitemcheckbox menuitemradio option treeitem ComboBoxSelect MenuListOption Date DateTime InputTime"
    " ColorWell DisclosureTriangle PopUpButton".split()
)
_WHOLE = frozenset("textbox searchbox Date DateTime InputTime ColorWell slider spinbutton".split())
"""Roles that are told by their value, whatever they are made of."""
_OPENING, _CHOICES = ("combobox", "ComboBoxSelect", "PopUpButton"), "MenuListPopup"
_OPTIONS = ("option", "MenuListOption")
_LABEL = "LabelText"
_STATES = (
    *("focused", "disabled", "checked", "selected", "expanded", "pressed", "required", "invalid"),
    *("readonly", "modal", "level", "valuetext", "url"),
)
_UNSAID = (None, "", False, "false")

Node = Mapping[str, Any]


class Refs:
    """Short names of elements: an element has the same as long as its document is there."""

    def __init__(self) -> None:
        self._count = 0
        self._names: dict[int, str] = {}
        self._labels: dict[str, tuple[int, str]] = {}

    def of(self, element: int, label: str) -> str:
        if element not in self._names:
            self._count += 1
            self._names[element] = f"e{self._count}"
        name = self._names[element]
        self._labels[name] = element, label
        return name

    def get(self, ref: str) -> tuple[int, str] | None:
        """The element and what it is called; None for an unknown ref."""
        return self._labels.get(ref.strip().strip("[]"))

    def clear(self) -> None:
        """Another document: no number is given twice."""
        self._labels.clear()
        self._names.clear()


@dataclass(slots=True)
class Outline:
    """`clickable` are elements that a script listens on for clicks. `frames` has trees within this one, by
    the element that holds each."""

    refs: Refs
    clickable: Collection[int] = frozenset()
    frames: Mapping[int, Sequence[Node]] = field(default_factory=dict)

    def text(self, nodes: Sequence[Node]) -> str:
        """The tree of a document, whose first node is its root."""
        return "\n".join(self._tree(nodes, 0)) or "(The page shows nothing.)"

    def _tree(self, nodes: Sequence[Node], depth: int) -> Iterator[str]:
        if nodes:
            yield from self._node(nodes[0], {node["nodeId"]: node for node in nodes}, depth, "")

    def _children(self, node: Node, by_id: Mapping[str, Node], depth: int, said: str) -> Iterator[str]:
        for child in node.get("childIds", ()):
            if child in by_id:
                yield from self._node(by_id[child], by_id, depth, said)

    def _node(self, node: Node, by_id: Mapping[str, Node], depth: int, said: str) -> Iterator[str]:
        """`said` is the name of what this is in: its text is not told again."""
        role, name = _value(node, "role"), _clean(_value(node, "name"))
        if role in _SILENT:
            return
        if role == _TEXT:
            if name and name not in said:
                yield f"{'  ' * depth}- {name}"
            return
        if role == _LABEL:
            yield from self._children(node, by_id, depth, said + " ".join(_named(node, by_id)))
            return
        element = node.get("backendDOMNodeId", 0)
        acts = self._acts(node, role, element)
        if not acts and (node.get("ignored") or role in _THROUGH):
            yield from self._children(node, by_id, depth, said)
            return
        plain = "" if role in _WHOLE else _choices(node, by_id) or self._plain(node, by_id)
        shown = plain if plain and plain not in name and plain not in said else ""
        label = f"{_word(role)} {_quoted(name)}".strip() if name else _word(role)
        parts = [label, f"[{self.refs.of(element, label)}]" if acts else "", *_states(node)]
        yield f"{'  ' * depth}- {' '.join(filter(None, parts))}{f': {shown}' if shown else ''}"
        if element in self.frames:
            yield from self._tree(self.frames[element], depth + 1)
        elif plain is None:
            yield from self._children(node, by_id, depth + 1, name)

    def _acts(self, node: Node, role: str, element: int) -> bool:
        if not element or node.get("ignored") or role in ("RootWebArea", "WebArea"):
            return False
        return role in _ACTS or element in self.clickable or bool(_properties(node).get("focusable"))

    def _plain(self, node: Node, by_id: Mapping[str, Node]) -> str | None:
        """All text of what holds nothing but text; None for what holds more."""
        texts: list[str] = []
        waiting = [by_id[child] for child in reversed(node.get("childIds", ())) if child in by_id]
        while waiting:
            one = waiting.pop()
            role = _value(one, "role")
            if role == _TEXT:
                texts.append(_value(one, "name"))
            elif role not in _SILENT:
                told = not one.get("ignored") and role not in _THROUGH
                if told or self._acts(one, role, one.get("backendDOMNodeId", 0)):
                    return None
                within = reversed(one.get("childIds", ()))
                waiting += [by_id[child] for child in within if child in by_id]
        return _clean("".join(texts))


def _choices(node: Node, by_id: Mapping[str, Node]) -> str:
    """What can be chosen of a list that opens; empty for what is none."""
    if _value(node, "role") not in _OPENING:
        return ""
    lists = [one for one in _below(node, by_id) if _value(one, "role") == _CHOICES]
    options = [one for each in lists for one in _below(each, by_id) if _value(one, "role") in _OPTIONS]
    return _clean(", ".join(_value(option, "name") for option in options))


def _named(node: Node, by_id: Mapping[str, Node]) -> Iterator[str]:
    """The names of what is in a label but its text."""
    for one in _below(node, by_id):
        if _value(one, "role") not in (_TEXT, *_SILENT):
            yield _clean(_value(one, "name"))


def _below(node: Node, by_id: Mapping[str, Node]) -> Iterator[Node]:
    for child in node.get("childIds", ()):
        if child in by_id:
            yield by_id[child]
            yield from _below(by_id[child], by_id)


def _states(node: Node) -> Iterator[str]:
    value = _clean(_value(node, "value"))
    if value and value != _clean(_value(node, "name")):
        yield f"value={_quoted(value)}"
    properties = _properties(node)
    for name in _STATES:
        said = properties.get(name)
        if said is True or said == "true":
            yield name
        elif said is False and name == "expanded":
            yield "collapsed"
        elif said not in _UNSAID:
            yield f"{name}={_clean(str(said))}"


def _properties(node: Node) -> dict[str, Any]:
    return {one["name"]: one["value"].get("value") for one in node.get("properties", ())}


def _value(node: Node, key: str) -> str:
    value = node.get(key)
    return str(value.get("value", "")) if value else ""


def _word(role: str) -> str:
    return {"generic": "clickable", "ComboBoxSelect": "combobox", "MenuListOption": "option"}.get(
        role, role[:1].lower() + role[1:]
    )


def _clean(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= MOST_NAME else f"{text[:MOST_NAME]}…"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
