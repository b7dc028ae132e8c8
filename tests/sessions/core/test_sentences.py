"""Sentences that are kept: English for logs, rows and the API, the reader's language in a page."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from django.template import engines
from django.utils.translation import override

from sessions.core.sentences import (
    Sentence,
    grouped,
    joined,
    message_of,
    packed,
    sentence_of,
    translate,
    unpacked,
)

MISSING = Sentence("the file %(file)s does not exist", file="a.json")
LEFT_OUT = Sentence("the skill is left out: %(error)s", error=ValueError(MISSING))
ENGLISH = "the skill is left out: the file a.json does not exist"
GERMAN = "der Skill wird ausgelassen: die Datei a.json gibt es nicht"


def test_it_is_english_and_is_said_in_the_language_in_force() -> None:
    with override("de"):
        assert (str(LEFT_OUT), f"{LEFT_OUT}", json.dumps(LEFT_OUT)) == (ENGLISH, ENGLISH, f'"{ENGLISH}"')
        assert translate(LEFT_OUT) == GERMAN
    assert translate(LEFT_OUT) == LEFT_OUT == ENGLISH


def test_a_template_shows_it_in_the_readers_language() -> None:
    source = "{{ it }}|{{ it|plain }}|{% translate it %}|{% blocktranslate %}{{ it }}{% endblocktranslate %}"
    template = engines["django"].from_string(source)
    with override("de"):
        assert template.render({"it": LEFT_OUT}) == "|".join([GERMAN] * 4)
    assert template.render({"it": LEFT_OUT}) == "|".join([ENGLISH] * 4)


def test_what_is_filled_in_is_escaped_and_is_no_format() -> None:
    hostile = Sentence("the file %(file)s does not exist", file="<b>%(x)s")
    template = engines["django"].from_string("{{ it }}{{ it|plain }}")
    with override("de"):
        assert template.render({"it": hostile}) == "die Datei &lt;b&gt;%(x)s gibt es nicht" * 2


def test_it_stays_one_as_the_text_of_an_exception() -> None:
    error = OSError(MISSING)
    assert sentence_of(error) is MISSING
    assert sentence_of(OSError(2, "gone")) == "[Errno 2] gone"
    with override("de"):
        assert message_of(error) == "die Datei a.json gibt es nicht"
        assert message_of(ValueError("x")) == "x"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])  # noqa: S301
def test_copies_are_sentences(again: object) -> None:
    with override("de"):
        assert translate(again(LEFT_OUT)) == GERMAN  # type: ignore[operator]


def test_it_goes_through_a_file() -> None:
    file = json.dumps([packed(joined(("text", LEFT_OUT), ": ")), packed("plain")])
    both, plain = map(unpacked, json.loads(file))
    assert (both, plain) == (f"text: {ENGLISH}", "plain")
    with override("de"):
        assert translate(both) == f"text: {GERMAN}"


def test_constant_texts_of_a_table_and_numbers() -> None:
    with override("de"):
        assert translate("Paused by you.") == "Von Ihnen angehalten."
        assert (translate(""), translate("by nobody")) == ("", "by nobody")
        assert grouped(1234567) == "1.234.567"
    assert grouped(1234567) == "1,234,567"
