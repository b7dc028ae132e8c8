"""The page of saved rules: listed, revoked, exported; the audit, paged and filtered."""

from __future__ import annotations

import json
import re
from pathlib import Path

from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import SavedRule, Session
from sessions.core.store import permissions
from sessions.web.approvals.rules import PAGE
from tests.sessions.changes.review.world import World
from tests.sessions.web.approvals.asking import ask


async def saved(session: Session, scope: str = "project", pattern: str = "git log *") -> SavedRule:
    row = await ask(session)
    await in_db(permissions.reply, row.id, "always", scope=scope, patterns=[pattern], actor="browser 12")
    return (await in_db(permissions.rules, session.project_id))[-1]


async def test_rules_with_their_origin_until_they_are_revoked(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session("<i>made here")
    rule, kept = await saved(session), await saved(session, "session", "git *")
    base = f"/p/{world.project.id}/rules"
    page = (await async_client.get(base)).content.decode()
    assert "bash: git log *" in page
    assert "this session" in page
    assert "&lt;i&gt;made here" in page
    assert "by browser 12" in page
    assert "not used yet" in page
    answer = (await async_client.post(f"{base}/{rule.id}/revoke")).content.decode()
    assert f'id="rule-{rule.id}"' not in answer
    assert f'id="rule-{kept.id}"' in answer
    assert [row.id for row in await in_db(permissions.rules, world.project.id)] == [kept.id]
    assert "gone already" in (await async_client.post(f"{base}/{rule.id}/revoke")).content.decode()
    assert (await async_client.get(f"{base}/{kept.id}/revoke")).status_code == 405


async def test_a_rule_is_revoked_on_the_page_of_its_project_only(
    world: World, async_client: AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "second").mkdir()
    second = await World.open(tmp_path / "second")
    rule = await saved(await world.session())
    other = f"/p/{second.project.id}/rules/{rule.id}"
    assert (await async_client.post(f"{other}/revoke")).status_code == 404
    assert await in_db(permissions.revoke, rule.id, "me")
    assert (await async_client.post(f"{other}/restore")).status_code == 404
    assert await in_db(permissions.rules, world.project.id) == []
    assert await in_db(permissions.restore, rule.id, "me")
    assert len(await in_db(permissions.rules, world.project.id)) == 1
    assert (await async_client.get("/p/none/rules")).status_code == 404


async def test_a_revoking_is_undone_from_its_note(world: World, async_client: AsyncClient) -> None:
    rule = await saved(await world.session())
    base = f"/p/{world.project.id}/rules/{rule.id}"
    note = (await async_client.post(f"{base}/revoke")).content.decode()
    assert f'hx-post="{base}/restore"' in note
    back = (await async_client.post(f"{base}/restore")).content.decode()
    assert f'id="rule-{rule.id}"' in back
    assert "Restored: bash: git log *" in back
    assert f'id="revoked-{rule.id}" hx-swap-oob="delete"' in back
    again = (await async_client.post(f"{base}/restore")).content.decode()
    assert "is there again already" in again
    shown = (await async_client.get(f"/p/{world.project.id}/rules/decisions")).content.decode()
    assert re.findall(r'data-verdict="(\w+)"', shown)[:2] == ["restore", "revoke"]


async def test_the_rules_as_configuration(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await saved(session)
    await saved(session, "session", "git *")
    answer = await async_client.get(f"/p/{world.project.id}/rules/export.json")
    assert json.loads(answer.content) == {"permission": {"bash": {"git log *": "allow"}}}
    assert answer["Content-Disposition"].startswith("attachment")


async def test_the_audit_is_paged_and_filtered(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    for number in range(PAGE + 2):
        row = await ask(session, patterns=(f"call <{number}>",))
        await in_db(permissions.reply, row.id, "once" if number else "reject", "" if number else "not <this>")
    base = f"/p/{world.project.id}/rules"
    first = (await async_client.get(base)).content.decode()
    assert first.count('<li class="decision"') == PAGE
    more = re.search(r'hx-get="([^"]+before=[^"]+)"', first)
    assert more
    rest = (await async_client.get(more[1].replace("&amp;", "&"))).content.decode()
    assert rest.count('<li class="decision"') == 2
    assert "before=" not in rest
    denied = (await async_client.get(f"{base}/decisions?show=deny")).content.decode()
    assert denied.count('<li class="decision"') == 1
    assert "call &lt;0&gt;" in denied
    assert "not &lt;this&gt;" in denied
    odd = await async_client.get(f"{base}/decisions?show=<x>&before=<x>")
    assert odd.content.decode().count('<li class="decision"') == PAGE
