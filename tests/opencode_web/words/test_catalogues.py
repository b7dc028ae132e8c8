"""Each language says all that the sources say, with what is filled in, and is compiled as it stands."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.utils.translation import gettext, ngettext, override, to_locale

from opencode_web import catalogues, languages
from tests.opencode_web.words import sources

FILES = sorted(languages.CATALOGUES.glob("*/LC_MESSAGES/*.po"))
CODES = [code for code, _ in languages.available() if code != languages.ENGLISH]
SAID = {"django": sources.pages, "djangojs": sources.scripts}

_FILLED = re.compile(r"%\(\w+\)s|\{\w*\}|<[^>]*>|&\w+;|%%")

each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.parent.name} {file.stem}")


def of(file: Path) -> polib.POFile:
    return polib.pofile(str(file))


def test_there_is_a_language_of_each_folder_and_each_has_both_files() -> None:
    folders = {path.name for path in languages.CATALOGUES.iterdir()}
    assert folders <= {to_locale(code) for code in languages.NAMES}
    assert {file.parent.parent.name for file in FILES} == folders
    assert len(FILES) == 2 * len(folders)
    assert [to_locale(code) for code in CODES] == [
        to_locale(code) for code in languages.NAMES if to_locale(code) in folders
    ]


@each_file
def test_it_has_what_the_sources_say_and_nothing_else(file: Path) -> None:
    """Else: `make words`."""
    listed = {(entry.msgctxt or "", entry.msgid) for entry in of(file) if not entry.obsolete}
    said = SAID[file.stem]()
    assert (sorted(said - listed), sorted(listed - said)) == ([], [])


@each_file
def test_all_of_it_is_translated(file: Path) -> None:
    left = [entry for entry in of(file) if entry.fuzzy or entry.obsolete or not entry.translated()]
    assert [entry.msgid for entry in left] == []


@each_file
def test_what_is_filled_in_and_the_tags_are_those_of_the_source(file: Path) -> None:
    """A form of a plural may leave its number out, as that of the source does."""
    wrong = []
    for entry in of(file):
        sources = [entry.msgid, entry.msgid_plural] if entry.msgid_plural else [entry.msgid]
        wanted = [Counter(_FILLED.findall(text)) for text in sources]
        for text in entry.msgstr_plural.values() or [entry.msgstr]:
            if Counter(_FILLED.findall(text)) not in wanted or ('"' in text) > ('"' in entry.msgid):
                wrong.append(text)
    assert wrong == []


@each_file
def test_plurals_have_as_many_forms_as_the_language(file: Path) -> None:
    catalogue = of(file)
    found = re.search(r"nplurals=(\d+)", catalogue.metadata["Plural-Forms"])
    assert found
    wrong = [one.msgid for one in catalogue if one.msgid_plural and len(one.msgstr_plural) != int(found[1])]
    assert wrong == []


@pytest.mark.parametrize("code", CODES)
def test_what_is_compiled_is_what_stands_there(code: str) -> None:
    """Else: `make`."""
    folder = languages.CATALOGUES / to_locale(code) / "LC_MESSAGES"
    with override(code):
        for entry in of(folder / "django.po"):
            if entry.msgctxt:
                continue
            if entry.msgid_plural:
                assert ngettext(entry.msgid, entry.msgid_plural, 1) in entry.msgstr_plural.values()
            else:
                assert gettext(entry.msgid) == entry.msgstr
    made = Path(settings.STATICFILES_DIRS[0], "words", f"{code}.js").read_text()
    assert made == catalogues.script(of(folder / "djangojs.po"))
