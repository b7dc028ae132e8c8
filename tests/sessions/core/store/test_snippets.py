"""Texts by names: saved, given another name, found, refused."""

from __future__ import annotations

import pytest

from sessions.core.store import snippets

pytestmark = pytest.mark.django_db(transaction=True)


def test_they_are_found_by_a_part_of_the_name() -> None:
    for name in ("tests", "Review", "preview"):
        snippets.save(name, f"The text of {name}")
    assert [row.name for row in snippets.named()] == ["preview", "Review", "tests"]
    assert [row.name for row in snippets.named("re")] == ["Review", "preview"]
    assert snippets.named("nothing") == []


def test_one_is_changed_and_gets_another_name() -> None:
    snippets.save("one", "First")
    snippets.save("two", "Second")
    snippets.save("one", "Changed", before="one")
    snippets.save("three", "Changed again", before="one")
    assert [(row.name, row.text) for row in snippets.named()] == [
        ("three", "Changed again"),
        ("two", "Second"),
    ]
    with pytest.raises(snippets.Refused, match="There is a snippet ;two already"):
        snippets.save("two", "Over it", before="three")
    with pytest.raises(snippets.Refused, match="There is a snippet ;two already"):
        snippets.save("two", "Over it")
    assert snippets.remove("two")
    assert not snippets.remove("two")


@pytest.mark.parametrize("name", ["", "two words", "a/b", "<b>", "x" * 41, "a\n"])
def test_a_name_is_one_word(name: str) -> None:
    with pytest.raises(snippets.Refused, match="A name has"):
        snippets.save(name, "Text")


@pytest.mark.parametrize(("text", "words"), [(" \n", "Write a text"), ("x" * 100_001, "may have 100,000")])
def test_a_text_is_neither_empty_nor_endless(text: str, words: str) -> None:
    with pytest.raises(snippets.Refused, match=words):
        snippets.save("name", text)
