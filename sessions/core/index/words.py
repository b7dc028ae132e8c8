"""Words of a text: as the index has them, and as a person looks for them.

A word is found where it begins: `perm` in `permission`, `user` in `get_user` and `getUser`, 数据 in 大数据库.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

# Written without spaces: kana, ideographs, syllables of Hangul.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:_+[^\W_{_CJK}]+)*")
_WITHIN = re.compile(r"(?<=_)(?=[^_])|(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word within an identifier begins."""
LONGEST = 40
"""Characters of a word that count: what is longer is seldom typed, and mostly random."""
SHORTEST = 3
"""Letters of a word that may be the beginning of a longer one; others are looked for whole."""


def words(text: str) -> set[str]:
    """In lower case: every word with the rest of its identifier (`user_id` and `id` of `user_id`), short ones
    by themselves too, and of what is written without spaces every two characters."""
    found: set[str] = set()
    for run in set(_RUN.findall(text)):
        if _is_unspaced(run):
            found.update(run[at : at + 2] for at in range(len(run)))
        elif run.islower() and "_" not in run:
            found.add(run[:LONGEST])
        else:
            starts = [0, *(start.end() for start in _WITHIN.finditer(run))]
            found.update(run[start:][:LONGEST].lower() for start in starts)
            found.update(part.lower() for part in _parts(run, starts) if len(part) < SHORTEST)
    return found


def _parts(run: str, starts: Sequence[int]) -> Iterator[str]:
    """From each start to the next, and to the one after it: each has a letter at least."""
    for place, start in enumerate(starts):
        yield from (run[start:end].rstrip("_") for end in starts[place + 1 : place + SHORTEST])


@dataclass(frozen=True, slots=True)
class Lookup:
    """A word of the index, or with `begins` all that begin so."""

    word: str
    begins: bool = False


@dataclass(frozen=True)
class Term:
    """What is looked for: a word, or several in their order, as they were typed; never blank."""

    text: str

    @cached_property
    def lookups(self) -> tuple[Lookup, ...]:
        """What the index has of every text that has the term; nothing for a term of signs alone."""
        found = [lookup for run in _RUN.finditer(self.text) for lookup in self._lookups(run)]
        if len(found) > 1 and self._may_go_on(found[-1]):
            found.pop()
        return tuple(found)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a text. Letters count in either case, any space stands for any other."""
        if self._beginning not in text.lower():  # many times as fast as the pattern
            return
        for found in self._pattern.finditer(text):
            if is_start(text, found.start()) and (not self._is_short or _ends(text, found.end())):
                yield found.span()

    def found(self, texts: Iterable[str]) -> bool:
        """Whether it stands in one of them."""
        return any(True for text in texts for _ in self.spans(text))

    def _may_go_on(self, last: Lookup) -> bool:
        """Whether it is the beginning of a word, and too short to be looked up as such."""
        is_short = not last.begins and len(last.word) < SHORTEST and not _is_unspaced(last.word)
        return is_short and self.text.lower().endswith(last.word)

    def _lookups(self, run: re.Match[str]) -> Iterator[Lookup]:
        is_last = not self.text[run.end() :].strip("_")
        word = run[0]
        if _is_unspaced(word):
            if len(word) == 1:
                yield Lookup(word, begins=True)
            yield from (Lookup(word[at : at + 2]) for at in range(len(word) - 1))
        else:
            yield Lookup(word.lower()[:LONGEST], begins=is_last and len(word) >= SHORTEST)

    @cached_property
    def _is_short(self) -> bool:
        return len(self.lookups) == 1 and self._may_go_on(self.lookups[0])

    @cached_property
    def _beginning(self) -> str:
        return self.text.split()[0].lower()

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(r"\s+".join(map(re.escape, self.text.split())), re.IGNORECASE)


def is_start(text: str, at: int) -> bool:
    """Whether a word begins there, or within an identifier one of its own."""
    here, before = text[at], text[at - 1 : at]
    if not here.isalnum() or not before.isalnum() or _is_unspaced(here) or _is_unspaced(before):
        return True
    if not ("A" <= here <= "Z"):
        return False
    return not ("A" <= before <= "Z") or "a" <= text[at + 1 : at + 2] <= "z"


def _ends(text: str, at: int) -> bool:
    return not text[at : at + 1].isalnum() or is_start(text, at)


def _is_unspaced(run: str) -> bool:
    """Every run is of one kind."""
    return _UNSPACED.match(run) is not None


_UNSPACED = re.compile(f"[{_CJK}]")
