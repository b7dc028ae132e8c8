"""Every theme can be read, and has every colour that the page has."""

from __future__ import annotations

import pytest
from django.test import AsyncClient
from hypothesis import given
from hypothesis import strategies as st

from sessions.web.looks.colours import Colour, colour, contrast, legible
from sessions.web.looks.themes import READ, READ_WELL, SEEN, THEMES, Theme, tokens

AA, AAA, OF_PARTS = 4.5, 7.0, 3.0
GROUNDS = ("bg", "panel", "raised", "hover", "bubble")
TINTS = (
    "accent-soft",
    "bad-soft",
    "warn-soft",
    "plan-soft",
    "staged-soft",
    "add",
    "del",
    "add-mark",
    "del-mark",
    "found",
)
READS = {
    "text": (*GROUNDS, *TINTS),
    "soft": (*GROUNDS, "add", "del"),
    "accent": (*GROUNDS, "accent-soft"),
    "bad": (*GROUNDS, "bad-soft"),
    "warn": (*GROUNDS, "warn-soft"),
    "plan": (*GROUNDS, "plan-soft"),
    "staged": (*GROUNDS, "staged-soft"),
    "good": GROUNDS,
    "accent-text": ("accent",),
    **{
        f"code-{name}": (*GROUNDS, "add", "del")
        for name in ("keyword", "string", "comment", "number", "name", "type")
    },
    **{f"term-{number}": ("bg",) for number in (*range(1, 8), *range(9, 16))},
}
"""What is read, by what it stands on (custom properties)."""


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_text_of_a_theme_can_be_read(theme: Theme) -> None:
    made = tokens(theme.name)
    least = AAA if theme.contrast == READ_WELL else AA
    for ink, grounds in READS.items():
        for ground in grounds:
            found = contrast(made[f"--{ink}"], made[f"--{ground}"])
            assert found >= least, f"{ink} on {ground}: {found:.2f}"
    for kind in ("system", "instructions", "tools", "outputs"):
        assert contrast(made[f"--kind-{kind}"], made["--bg"]) >= OF_PARTS


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_a_theme_has_every_colour_of_the_page(theme: Theme) -> None:
    assert set(tokens(theme.name)) == set(tokens("dark")) == set(tokens("light"))


async def test_a_theme_is_told_to_the_page(async_client: AsyncClient, settings: object) -> None:
    settings.MIDDLEWARE = []  # type: ignore[attr-defined]
    told = (await async_client.get("/settings/looks/theme", {"name": "slate"})).json()
    assert told["scheme"] == "dark"
    assert told["properties"]["--bg"] == tokens("slate")["--bg"]
    assert (await async_client.get("/settings/looks/theme", {"name": "dark"})).json()["scheme"] == "dark"
    assert (await async_client.get("/settings/looks/theme", {"name": "../x"})).status_code == 404


def test_contrast_is_that_of_the_standard() -> None:
    """Values of the examples of WCAG 2.2, Understanding 1.4.3."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@given(st.from_regex(r"\A#[0-9a-f]{6}\Z"))
def test_a_colour_is_the_same_after_its_way_there_and_back(text: str) -> None:
    found = colour(text)
    assert found is not None
    parts = zip(bytes.fromhex(found.hex[1:]), bytes.fromhex(text[1:]), strict=True)
    assert all(abs(one - other) <= 3 for one, other in parts)


@given(st.floats(0, 1), st.floats(0, 0.3), st.floats(0, 360), st.floats(0, 1))
def test_what_is_to_be_read_can_be_read_on_any_ground(
    lightness: float, chroma: float, hue: float, ground: float
) -> None:
    behind = Colour(ground, 0.02, 200).hex
    found = legible(Colour(lightness, chroma, hue), [behind], SEEN).hex
    assert contrast(found, behind) >= SEEN


def test_no_colour_is_made_of_other_words() -> None:
    assert colour("red") is None
    assert colour("#12345") is None
    assert READ > AA
