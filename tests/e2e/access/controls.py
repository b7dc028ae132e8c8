"""What there is to press, to choose and to write into on a page, and where on it."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

FIND = Path(__file__).with_name("controls.js").read_text()


async def controls(page: Page) -> dict[str, list[str]]:
    """By the place, each as `kind: name`; numbers in names are `#`. Rows of sessions and files and the text
    of answers are left out."""
    found: dict[str, list[str]] = await page.evaluate(FIND)
    return found
