"""Trust a project as a person does in the page: look at the dialog, press the button."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.opencode_web.site.security.browser import Browser, browsing
from tests.server import Server, model_config, running


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


@asynccontextmanager
async def with_files(
    home: Path,
    project: Path,
    script: list[Turn] | Callable[[Any], Turn],
    files: Mapping[str, str],
    environ: Mapping[str, str],
    **config: Any,
) -> AsyncIterator[tuple[Client, OpenAIServer, Browser, str]]:
    """The server in a project whose files below `.opencode` are trusted."""
    write(project, {f".opencode/{name}": text for name, text in files.items()})
    async with OpenAIServer(script, title=None) as model:
        server = Server(home, project, model_config(model.base_url, **config), dict(environ))
        async with running(server) as client, browsing(server) as browser:
            session = await client.create_session("named")
            await trust(browser, session["projectID"])
            yield client, model, browser, session["projectID"]
