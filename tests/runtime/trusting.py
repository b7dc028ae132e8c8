"""Trust a project as a person does in the page: look at the dialog, press the button."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import httpx

from tests.opencode_web.site.security.browser import Browser


def write(project: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


async def dialog(browser: Browser, project: str) -> str:
    return (await browser.get("/pickers/trust", params={"project": project})).text


async def notices(browser: Browser, project: str, session: str = "") -> str:
    shown = await browser.get("/pickers/status", params={"project": project, "session": session})
    return " ".join(shown.text.split())  # without the line breaks of templates


async def trust(browser: Browser, project: str) -> httpx.Response:
    found = re.search(r'name="shown" value="(\w+)"', await dialog(browser, project))
    assert found, "nothing waits for trust"
    return await browser.change("/pickers/trust/grant", project=project, shown=found[1])


async def revoke(browser: Browser, project: str) -> httpx.Response:
    return await browser.change("/pickers/trust/revoke", project=project)
