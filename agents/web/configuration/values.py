"""What a person chose for a setting, as a change of the configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext

from agents.config import jsonc
from agents.web.configuration.catalogue import Setting
from sessions.core.sentences import message_of
from sessions.core.wire.patterns import EVERYTHING


class Wrong(ValueError):
    """What was filled in is no value; the text is for people."""


def nested(path: Sequence[str], value: Any) -> dict[str, Any]:
    """The value at its place in an object."""
    first, *rest = path
    return {first: nested(rest, value) if rest else value}


def patch_of(setting: Setting, fields: QueryDict, here: Any) -> Any:
    """The change of what the file has `here`; None takes it out of the file. Raises Wrong."""
    if "remove" in fields:
        return None
    if "json" in fields:
        return changed(here, _json(fields.get("json", "")))
    text = fields.get("value", "").replace("\r\n", "\n").strip()
    match setting.kind:
        case "switch":
            return text == "true"
        case "whole" | "number":
            return _number(text, setting)
        case "limit":
            return False if "none" in fields else _number(text, setting)
        case "lines" | "models":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "prose":
            return fields.get("value", "").replace("\r\n", "\n").rstrip() or None
        case "numbers":
            return _numbers(setting, fields, here)
        case "json":
            return changed(here, _json(text)) if text else None
        case _:
            return text or None


def changed(now: Any, wanted: Any) -> Any:
    """What is to be merged into a value so that it becomes another: of objects the members that differ, null
    for those that go."""
    if not isinstance(wanted, Mapping):
        return wanted
    if isinstance(now, str):  # of rules, which that is for all of
        now = {EVERYTHING: now}
    if not isinstance(now, Mapping):
        return wanted
    gone: dict[str, Any] = dict.fromkeys(key for key in now if key not in wanted)
    return gone | {
        key: changed(now.get(key), value) for key, value in wanted.items() if now.get(key) != value
    }


def _numbers(setting: Setting, fields: QueryDict, here: Any) -> Any:
    """What an object has beside them stays."""
    given = {name: _number(fields.get(f"value-{name}", "").strip(), setting) for name in setting.choices}
    kept = {name: number for name, number in given.items() if number is not None}
    if not kept:
        return None
    first, second = setting.choices[:2]
    if not {first, second} <= kept.keys():
        raise Wrong(
            gettext("%(first)s and %(second)s belong together: fill in both.")
            % {"first": first, "second": second}
        )
    beside = {name: value for name, value in (here or {}).items() if name not in given}
    return changed(here, {**beside, **kept})


def _number(text: str, setting: Setting) -> int | float | None:
    if not text:
        return None
    try:
        number = float(text)
    except ValueError as error:
        raise Wrong(gettext("This is no number.")) from error
    if setting.kind == "number" or setting.unit.startswith("US$") or not number.is_integer():
        return number
    return int(number)


def _json(text: str) -> Any:
    """With comments and a comma too many, as in the file."""
    try:
        return jsonc.Document(text).value
    except jsonc.JsoncError as error:
        raise Wrong(message_of(error)) from error
