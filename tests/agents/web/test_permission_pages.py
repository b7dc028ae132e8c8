"""The configuration's rules as the page of saved rules pulls them, and the rule because of which somebody is
asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.store import permissions
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

CONFIG = {
    "permission": {"*": "allow", "bash": {"*": "allow", "touch <b>*": "ask"}},
    "limits": {"calls": {"web<b>*": 20}, "subagents": 3},
    "agent": {"careful": {"permission": {"edit": "deny"}}},
}


@pytest.fixture
async def talk(tmp_path: Path, settings: Any) -> Talk:
    settings.MIDDLEWARE = []
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "project" / "opencode.json").write_text(json.dumps(CONFIG))
    return talk


async def asked(talk: Talk, pattern: str, agent: str = "build", always: str = "") -> str:
    row = await in_db(
        permissions.ask,
        talk.session,
        message_id="",
        call_id="call",
        agent=agent,
        permission="bash",
        patterns=[pattern],
        always=[always] if always else [],
        metadata={},
        arguments_hash="seen",
    )
    return row.id


async def test_the_rules_of_every_agent_with_the_configurations(
    talk: Talk, async_client: AsyncClient
) -> None:
    page = (await async_client.get("/pickers/rules", {"project": talk.project.id})).content.decode()
    assert "bash: touch &lt;b&gt;*" in page
    careful = page.partition("careful")[2]
    assert '<li data-action="deny"><span class="action">deny</span> <code>edit: *</code>' in careful
    assert "title" not in page
    assert (await async_client.get("/pickers/rules", {"project": "none"})).status_code == 404


async def test_the_limits_in_force(talk: Talk, async_client: AsyncClient) -> None:
    page = (await async_client.get("/pickers/rules", {"project": talk.project.id})).content.decode()
    assert "3 subagents at work at once" in page
    assert "20 calls of web&lt;b&gt;* in one turn" in page
    assert "Subagents 1 deep" in page


async def test_the_rule_that_asks(talk: Talk, async_client: AsyncClient) -> None:
    page = await async_client.get("/pickers/why", {"request": await asked(talk, "touch <b>x")})
    assert "Asked because of <code>bash: touch &lt;b&gt;*</code>" in page.content.decode()
    assert "Nearest" not in page.content.decode()
    other = await asked(talk, "touch <b> y", always="touch <b> *")
    await in_db(permissions.reply, other, "always")
    page = await async_client.get("/pickers/why", {"request": await asked(talk, "touch <b>x y")})
    assert "Nearest that allows:\n  <code>bash: touch &lt;b&gt; *</code>" in page.content.decode()
    quiet = await async_client.get("/pickers/why", {"request": await asked(talk, "ls", "unheard of")})
    assert quiet.content.decode().strip() == ""
    assert (await async_client.get("/pickers/why", {"request": "per_none"})).status_code == 404
