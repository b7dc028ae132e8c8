"""What axe-core finds in a page as it stands, in both schemes and at each size."""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page, ViewportSize

from tests.e2e.access.world import settled

WIDE: ViewportSize = {"width": 1440, "height": 900}
NARROW: ViewportSize = {"width": 390, "height": 844}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"]
EXCUSED = {
    ("aria-allowed-role", "#prompt"): "the field of a combobox of many lines can only be a textarea",
    ("region", ".edge"): "a splitter stands between two landmarks and belongs to neither",
}
"""By rule and the beginning of the element's selector: the reason."""
RUN = """(tags) => axe.run(document, { runOnly: tags, resultTypes: ["violations"] })
  .then(({ violations }) => violations)"""

OVER = """() => document.getElementById("layout")
  && document.scrollingElement.scrollHeight - document.scrollingElement.clientHeight"""


async def violations(page: Page, axe: str, sizes: tuple[ViewportSize, ...]) -> list[str]:
    """One line for each element that breaks a rule: where, the rule, the element. `axe` is its script. A page
    of a session scrolls within its parts, never as a window."""
    found: list[str] = []
    await page.evaluate(axe)
    for size in sizes:
        await page.set_viewport_size(size)
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            await settled(page)
            where = f"{scheme} {size['width']}"
            found += [f"{where}: {line}" for line in _lines(await page.evaluate(RUN, TAGS))]
            if height := await page.evaluate(OVER):
                found.append(f"{where}: the window scrolls by {height} px")
    return found


def _lines(violations: list[dict[str, Any]]) -> list[str]:
    return [
        f"{violation['id']} ({violation['impact']}): {node['target'][-1]} {node['html'][:160]}"
        for violation in violations
        for node in violation["nodes"]
        if not any(
            violation["id"] == rule and node["target"][-1].startswith(place) for rule, place in EXCUSED
        )
    ]
