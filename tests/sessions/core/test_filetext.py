"""Encodings and line endings go through unchanged."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.core import filetext


@given(st.binary() | st.text().map(str.encode) | st.text().map(lambda text: text.encode("utf-16", "ignore")))
@example(b"\xef\xbb\xbf\xff")
@example(b"\xff\xfe\x00")
def test_any_bytes_survive(data: bytes) -> None:
    codec = filetext.detect(data)
    assert codec.encode(codec.decode(data)) == data


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        ("naïve".encode(), "utf-8", "naïve"),
        ("naïve café".encode("latin-1"), "latin-1", "naïve café"),
        ("\ufeffnaïve".encode("utf-16-le"), "utf-16-le", "naïve"),
        ("\ufeffx".encode(), "utf-8", "x"),
        ("naïve café ".encode() + b"\xff", "utf-8", "naïve café \udcff"),
    ],
)
def test_encodings_are_told_apart(data: bytes, name: str, text: str) -> None:
    codec = filetext.detect(data)
    assert codec.name == name
    assert codec.decode(data).startswith(text)


def test_what_the_encoding_has_not_is_refused() -> None:
    with pytest.raises(filetext.Unencodable, match="latin-1"):
        filetext.detect("café".encode("latin-1")).encode("€")


@pytest.mark.parametrize(
    ("data", "binary"),
    [(b"", False), (b"a\0b", True), (b"\x1b[31mred\x1b[0m\r\n", False), ("a".encode("utf-16"), False)],
)
def test_binary(data: bytes, binary: bool) -> None:
    assert filetext.is_binary(data) is binary


@given(st.text(alphabet="a\r\n", max_size=30), st.data())
def test_spans_lead_back_to_the_same_text(raw: str, data: st.DataObject) -> None:
    text = raw.replace("\r\n", "\n")
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    [(raw_start, raw_stop)] = filetext.raw_spans(raw, [(start, stop)])
    assert raw[:raw_start].replace("\r\n", "\n") == text[:start]
    assert raw[raw_start:raw_stop].replace("\r\n", "\n") == text[start:stop]
