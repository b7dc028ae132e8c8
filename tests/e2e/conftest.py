"""A real Chromium on a real server; one of both for most tests, a context for each."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
import pytest_asyncio
from playwright.async_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    ViewportSize,
    async_playwright,
    expect,
)

from tests.e2e.stage import Stage
from tests.runtime.conftest import home, project

__all__ = ["home", "project"]

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE: ViewportSize = {"width": 1440, "height": 900}
PATIENCE = 15_000
"""Milliseconds that anything on a page may take; never waited for in a good run."""
ASKED = {
    "*": "allow",
    "bash": {"*": "allow", "touch *": "ask"},
    "edit": {"*": "allow", "asked*": "ask"},
    "network": "ask",
}
FAULTS = ("Content Security Policy", "returned no matches", "htmx:", "status of 404", "status of 500")
"""What no console may say unless a test provokes it. A form that is refused (422) is what tests are about."""
_provoked: WeakKeyDictionary[BrowserContext, set[str]] = WeakKeyDictionary()
FILES = {
    "hello.py": "def hello():\n    return 'hello'\n",
    "docs/guide.md": "# Guide\n",
    "numbers.txt": "".join(f"{number}\n" for number in range(1, 31)),
}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(chromium_path: str) -> AsyncIterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium_path, args=QUIET)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """Fails a test whose pages threw, opened a dialog or broke their own policy."""
    context = await browser.new_context(viewport=WIDE, reduced_motion="reduce")
    faults = watch(context)
    yield context
    await context.close()
    assert faults == []


def provokes(context: BrowserContext, *texts: str) -> None:
    """The test itself brings about errors and questions with these texts, or addresses, in a context."""
    _provoked.setdefault(context, set()).update(texts)


def watch(context: BrowserContext) -> list[str]:
    """What goes wrong in a context's pages, as it happens."""
    faults: list[str] = []

    def said(message: ConsoleMessage) -> None:
        told = f"{message.text} ({message.location.get('url', '')})"
        provoked = any(text in told for text in _provoked.get(context, ()))
        if any(text in message.text for text in FAULTS) and not provoked:
            faults.append(told)

    def asked(dialog: Dialog) -> None:
        if not any(text in dialog.message for text in _provoked.get(context, ())):
            faults.append(f"dialog: {dialog.message}")

    context.set_default_timeout(PATIENCE)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", said)
    context.on("dialog", asked)
    return faults


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """One server for all tests; `touch` and files called `asked…` need a permission."""
    home = tmp_path_factory.mktemp("home")
    project = repository(tmp_path_factory.mktemp("stage") / "project")
    async with Stage(home, project, permission=ASKED) as stage:
        yield stage


def repository(path: Path) -> Path:
    """A git repository of FILES with one commit."""
    for name, text in FILES.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", *identity, *arguments], cwd=path, check=True)
    return path
