"""OpenCode's theme files as themes of the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from agents.config import themes
from agents.config.themes import NoTheme, ThemeFile, files, schemes, tokens
from sessions.web.looks.colours import contrast
from sessions.web.looks.themes import tokens as of_theme

THEME = {
    "$schema": "https://opencode.ai/theme.json",
    "defs": {"night": "#2e3440", "snow": "#eceff4", "ice": "#88c0d0", "alias": "ice", "round": "round"},
    "theme": {
        "primary": {"dark": "alias", "light": "#5e81ac"},
        "background": {"dark": "night", "light": "snow"},
        "text": {"dark": "snow", "light": "night"},
        "textMuted": "#8b95a7",
        "syntaxKeyword": "#3b4252",
        "syntaxString": "round",
        "syntaxNumber": 213,
        "error": "none",
    },
}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def put(folder: Path, name: str, theme: Any) -> ThemeFile:
    (folder / "themes").mkdir(parents=True, exist_ok=True)
    path = folder / "themes" / f"{name}.json"
    path.write_text(theme if isinstance(theme, str) else json.dumps(theme))
    return ThemeFile(name, path, folder)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_its_colours_are_those_of_the_page_and_can_be_read(tmp_path: Path, scheme: str) -> None:
    file = put(tmp_path, "nordic", THEME)
    made = tokens(file, scheme)
    assert made["--bg"] == {"dark": "#2e3440", "light": "#eceff4"}[scheme]
    assert set(made) == set(of_theme("dark"))
    for name in ("text", "soft", "accent", "code-keyword", "code-string", "bad"):
        for ground in ("bg", "panel", "raised", "hover", "bubble"):
            assert contrast(made[f"--{name}"], made[f"--{ground}"]) >= 4.5, (name, ground)
    assert schemes(file) == ["light", "dark"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "no theme"),
        ('{"theme": {}}', "no background"),
        ('{"theme": {"background": "#ffffff", "primary": "#123456"}}', "no dark background"),
        (" " * 300_000, "cannot be read"),
    ],
)
def test_what_is_none_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(NoTheme, match=words):
        tokens(put(tmp_path, "odd", text), "dark")


def test_a_link_that_leads_out_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere.json"
    secret.write_text(json.dumps(THEME))
    file = put(tmp_path / "project", "linked", "")
    file.path.unlink()
    file.path.symlink_to(secret)
    with pytest.raises(NoTheme, match="cannot be read"):
        tokens(file, "dark")


def test_the_projects_count_over_ones_own(tmp_path: Path, environ: dict[str, str]) -> None:
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    own = put(tmp_path / "config" / "opencode", "mine", THEME)
    nearer = put(project / ".opencode", "mine", THEME)
    assert files(None, environ) == [own]
    assert files(project, environ) == [nearer]


@pytest.mark.django_db(transaction=True)
async def test_the_page_offers_them(
    async_client: AsyncClient, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MIDDLEWARE = []
    settings.OPENED_DIRECTORY = str(tmp_path)
    file = put(tmp_path, "<b>&x", THEME)
    monkeypatch.setattr(themes, "files", lambda directory: [file])
    page = (await async_client.get("/settings/looks/files")).content.decode()
    assert "&lt;b&gt;&amp;x, dark" in " ".join(page.split())
    assert "<b>" not in page
    told = (await async_client.get("/settings/looks/file", {"name": file.name, "scheme": "dark"})).json()
    assert told["properties"]["--bg"] == "#2e3440"
    for query in ({"name": "no", "scheme": "dark"}, {"name": file.name, "scheme": "odd"}):
        assert (await async_client.get("/settings/looks/file", query)).status_code == 404
