"""The icons that are no drawings, made of static/icon.svg: `python -m tests.e2e.icons` (needs a Chromium)."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from playwright.async_api import async_playwright

from tests.conftest import BROWSERS
from tests.e2e.conftest import QUIET

STATIC = Path(__file__).parents[2] / "static"
ICONS = {"icon-32": (32, 1.0), "icon-192": (192, 1.0), "icon-512": (512, 1.0)}
FULL = {"icon-180": (180, 0.9), "icon-maskable": (512, 0.75)}
"""Filled to their corners, which the device cuts off; the second number is the part that the mark takes."""
GROUND = "#4650c8"


async def main() -> None:
    drawing = (STATIC / "icon.svg").read_text()
    path = next(path for name in BROWSERS if (path := shutil.which(name)))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=QUIET)
        for name, (size, part) in (ICONS | FULL).items():
            page = await browser.new_page(viewport={"width": size, "height": size})
            ground = GROUND if name in FULL else "transparent"
            style = f"margin:0;height:100vh;display:grid;place-items:center;background:{ground}"
            await page.set_content(f'<body style="{style}">{drawing}</body>')
            await page.locator("svg").evaluate("(svg, part) => svg.style.width = part * 100 + 'vw'", part)
            await page.screenshot(path=STATIC / f"{name}.png", omit_background=True)
            await page.close()
        await browser.close()


if __name__ == "__main__":
    asyncio.run(main())
