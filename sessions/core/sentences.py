"""Sentences that are made before it is known who reads them: they are kept in memory, or come from a loop
that works for everybody. A page shows them in the language of its reader.

Django is imported where it is used: what makes sentences is also a part of programs that do without it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Sentence(str):
    """A sentence in English, as logs, rows and answers of the API have it. `filled` stands for each
    `%(name)s` of the text: also other sentences, or exceptions. A template shows it in the language in force;
    elsewhere `translate` says it so. `make words` finds the text."""

    text: str
    filled: dict[str, Any]

    def __new__(cls, text: str, /, **filled: Any) -> Sentence:
        given = {
            key: sentence_of(one) if isinstance(one, BaseException) else one for key, one in filled.items()
        }
        made = super().__new__(cls, text % given if given else text)
        made.text, made.filled = text, given
        return made

    def __html__(self) -> str:
        from django.utils.html import escape

        return escape(translate(self))


def translate(text: str) -> str:
    """A sentence, or a constant text of a table, in the language in force; any other text as it is."""
    from django.utils.translation import gettext

    if not isinstance(text, Sentence):
        return gettext(text) if text else ""
    filled = {name: translate(one) if isinstance(one, Sentence) else one for name, one in text.filled.items()}
    return gettext(text.text) % filled if filled else gettext(text.text)


def joined(pieces: Iterable[str], by: str) -> str:
    """Several of them in one; `by` is what stands between."""
    filled = {f"piece{number}": piece for number, piece in enumerate(pieces)}
    return Sentence(by.join(f"%({name})s" for name in filled), **filled) if filled else ""


def sentence_of(error: BaseException) -> str:
    """What an exception says: its sentence, where it was raised with one alone."""
    only = error.args[0] if len(error.args) == 1 else None
    return only if isinstance(only, Sentence) else str(error)


def message_of(error: BaseException) -> str:
    """The same in the language in force."""
    return translate(sentence_of(error))


def grouped(number: float | str) -> str:
    """`210,007`, as the language in force writes it."""
    from django.utils.formats import number_format

    return str(number_format(number, force_grouping=True))


def packed(text: str) -> Any:
    """For a file of JSON."""
    if not isinstance(text, Sentence):
        return text
    return {"text": text.text, "filled": {name: _packed(one) for name, one in text.filled.items()}}


def unpacked(shape: Any) -> str:
    """Raises KeyError and TypeError for what is none."""
    if not isinstance(shape, dict):
        return str(shape)
    filled = {name: unpacked(one) if isinstance(one, dict) else one for name, one in shape["filled"].items()}
    return Sentence(shape["text"], **filled)


def _packed(value: Any) -> Any:
    return (
        value if isinstance(value, int | float) else packed(value if isinstance(value, str) else str(value))
    )
