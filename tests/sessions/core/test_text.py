"""Output of commands and names of files, made visible."""

from __future__ import annotations

import pytest

from sessions.core.text import bounded, last_lines, prose, shown_output, terminal, visible
from tests.hostile.characters import FLOOD, HIDING, RIGHT, hidden


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[1;32mok\x1b[0m", "ok"),
        ("\x1b]8;;http://evil.example\x07click\x1b]8;;\x07", "click"),
        ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
        ("bell\x07 null\x00", "bell\u2407 null\u2400"),
        ("admin\u202etxt.exe", "admin\\u202etxt.exe"),
        ("\x1b(B\x1b[?25l text", " text"),
    ],
)
def test_terminal_output_is_text(raw: str, shown: str) -> None:
    assert terminal(raw) == shown


def test_what_no_encoder_takes_is_mended() -> None:
    visible("a\ud800b").encode()


def test_ten_megabytes_in_one_line_are_bounded() -> None:
    text = bounded("x" * 10_000_000)
    assert len(text) < 80_000
    assert "left out" in text
    assert len(last_lines("y" * 10_000_000, 8)) <= 8 * 400


@pytest.mark.parametrize("character", HIDING.values(), ids=HIDING.keys())
def test_what_hides_is_written_out(character: str) -> None:
    shown = visible(f"rm{character}x")
    assert character not in shown
    assert len(shown) > 3 or shown[2] in "\u240d\u241b\u2421"


def test_every_format_character_is_written_out() -> None:
    for character in hidden():
        assert character not in visible(f"a{character}b"), hex(ord(character))


def test_a_flood_of_marks_is_written_out() -> None:
    assert visible(FLOOD).count("\u0301") == 4
    assert visible(FLOOD).count("\\u0301") == 36


@pytest.mark.parametrize("text", RIGHT)
def test_what_languages_and_emoji_need_stays(text: str) -> None:
    assert visible(text) == text


def test_prose_keeps_joiners_and_no_overrides() -> None:
    assert prose("\u0645\u06cc\u200c\u062e\u202e") == "\u0645\u06cc\u200c\u062e\\u202e"


def test_output_is_cut_before_it_is_worked_on() -> None:
    text = shown_output("\x1b[1m" * 1_000_000 + "end", limit=1000)
    assert text.endswith("end")
    assert len(text) < 1100
