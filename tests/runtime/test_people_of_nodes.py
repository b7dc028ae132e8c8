"""People at a front and at the machines behind it: one sign-in, roles by machine and project."""

from __future__ import annotations

from pathlib import Path

from tests.opencode_web.people.conftest import TEAM, Team
from tests.postgres_server import PostgresServer
from tests.runtime.conftest import repository
from tests.server import Server
from tests.team import begun, environment, front, node


def with_people(server: Server) -> Server:
    server.environ = {**server.environ, **TEAM}
    return server


async def test_one_sign_in_for_all_machines(tmp_path: Path, postgres: PostgresServer) -> None:
    assert environment(postgres)
    one = with_people(node(tmp_path, postgres, "one", repository(tmp_path / "project"), {}))
    door = with_people(front(tmp_path, postgres))
    async with begun(one), begun(door, verb="front"):
        team = Team(door)
        added = door.command("people", "add", "Ada", environ={"OPENCODE_WEB_FRONT": "1"})
        async with team.browser("Ada", added.stdout.strip()) as browser:
            assert "one" in (await browser.get("/")).text
            page = await browser.get("/n/one/?choose")
            assert page.status_code == 200
            assert (await browser.get("/n/one/settings")).status_code == 403
            assert (await browser.get("/n/one/ws/inbox/")).status_code == 404
        async with team.client() as nobody:
            asked = await nobody.get("/n/one/?choose", headers={"Accept": "text/html"})
            assert asked.headers["location"] == "/login?next=/n/one/%3Fchoose"
