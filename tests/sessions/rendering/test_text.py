"""Output of commands and names of files, made visible."""

from __future__ import annotations

import pytest

from sessions.rendering.text import bounded, last_lines, terminal, visible


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
