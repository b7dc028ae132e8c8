"""People come in by their own names: links, passwords, tokens, proxies; and go out."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path

import httpx

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.people.conftest import BY_PROXY, PASSWORD, TEAM, Team, csrf
from tests.server import PASSWORD as PASSWORD_OF_SERVER
from tests.server import Server, model_config

HTML = {"Accept": "text/html"}


async def test_a_link_chooses_a_password_once(team: Team) -> None:
    link = team.command("add", "Ada", "--admin")
    async with team.browser("Ada", link) as browser:
        assert "Ada" in (await browser.get("/you/")).text
    async with team.client() as other:
        other.follow_redirects = True
        assert "used before" in (await other.get(link)).text


async def test_a_name_and_its_password_sign_in(team: Team) -> None:
    team.command("add", "Grace")
    async with team.browser("Grace"):
        pass
    async with team.client() as browser:
        asked = await browser.get("/?choose", headers=HTML)
        assert asked.status_code == 303
        assert asked.headers["location"] == "/login?next=/%3Fchoose"
        wrong = await browser.post("/login", data={"login": "Grace", "password": "wrong"})
        assert wrong.status_code == 200
        assert (await browser.get("/you/")).status_code == 401
        right = await browser.post("/login", data={"login": "Grace", "password": PASSWORD})
        assert right.status_code == 302
        assert "Grace" in (await browser.get("/you/")).text


async def test_the_form_has_to_come_from_here(team: Team) -> None:
    async with team.client() as browser:
        form = {"login": "Grace", "password": PASSWORD}
        answer = await browser.post("/login", data=form, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403


async def test_a_change_takes_the_token_of_the_page(team: Team) -> None:
    team.command("add", "Alan")
    async with team.browser("Alan") as browser:
        assert (await browser.post("/you/token", data={"name": "x", "role": "see"})).status_code == 403
        made = await browser.post(
            "/you/token", data={"name": "x", "role": "see"}, headers=await csrf(browser)
        )
        assert "ocw_" in made.text


async def test_signing_out_ends_it(team: Team) -> None:
    team.command("add", "Barbara")
    async with team.browser("Barbara") as browser:
        await browser.post("/logout", headers=await csrf(browser))
        assert (await browser.get("/you/", headers={"Accept": "*/*"})).status_code == 401


async def test_who_is_switched_off_is_out(team: Team) -> None:
    token = team.token("Edsger", "ask")
    async with team.browser("Edsger") as browser, team.client(token) as client:
        assert (await client.get("/session")).status_code == 200
        team.command("off", "Edsger")
        assert (await client.get("/session")).status_code == 401
        assert (await browser.get("/you/", headers={"Accept": "*/*"})).status_code == 401
        team.command("on", "Edsger")
        assert (await client.get("/session")).status_code == 200


async def test_a_token_may_no_more_than_it_says(team: Team) -> None:
    token = team.token("Donald", "approve", "--role", "see")
    async with team.client(token) as client:
        assert (await client.get("/session")).status_code == 200
        assert (await client.post("/session", json={})).status_code == 403
        more = {"name": "more", "role": "approve"}
        assert (await client.post("/you/token", data=more)).status_code == 404


async def test_a_token_is_the_password_of_a_client(team: Team) -> None:
    token = team.token("Niklaus", "ask")
    async with team.client() as client:
        for user in ("opencode", "anything"):
            answer = await client.get("/session", auth=httpx.BasicAuth(user, token))
            assert answer.status_code == 200
        assert (await client.get("/session", auth=httpx.BasicAuth("opencode", "ocw_x"))).status_code == 401


async def test_a_preset_takes_who_may_approve(team: Team) -> None:
    """Else who may only ask would let the agent do everything unasked."""
    everything = {"permission": [{"permission": "*", "pattern": "*", "action": "allow"}]}
    async with team.client(team.token("Tony", "ask")) as client:
        made = await client.post("/session", json={})
        assert made.status_code == 200
        place = f"/session/{made.json()['id']}"
        assert (await client.post("/session", json=everything)).status_code == 403
        text = {"Content-Type": "text/plain"}
        said = await client.post("/session", content=json.dumps(everything), headers=text)
        assert said.status_code == 403
        assert (await client.patch(place, json={"preset": "everything"})).status_code == 403
        form = {"preset": "everything", "text": "x"}
        answer = await client.post(f"/p/{made.json()['projectID']}/s/", data=form)
        assert answer.status_code == 403
    async with team.client(team.token("Leslie", "approve")) as client:
        assert (await client.patch(place, json={"preset": "everything"})).status_code == 200


async def test_a_launch_link_leads_to_the_sign_in(team: Team) -> None:
    async with team.client() as browser:
        browser.follow_redirects = True
        answer = await browser.get(team.server.launch_url, headers=HTML)
        assert answer.url.path == "/login"


async def test_a_project_that_one_may_not_see_is_in_no_list(team: Team) -> None:
    token = team.token("Ken", "see")
    async with team.client(PASSWORD_OF_SERVER) as operator, team.client(token) as client:
        project = (await operator.get("/project/current")).json()["id"]
        assert project in (await client.get("/?choose")).text
        person = re.findall(r"/people/([0-9a-f-]{36})", await _until(operator, "Role of Ken"))[-1]
        nothing = {"project": project, "role": ""}
        assert (await operator.post(f"/people/{person}/project", data=nothing)).status_code == 200
        assert project not in (await client.get("/?choose")).text
        refused = ("/session", f"/p/{project}/s/", "/global/event", "/search", f"/search?project={project}")
        for path in (*refused, "/search?project=none", "/find?pattern=x&project=none"):
            assert (await client.get(path)).status_code == 403, path


async def _until(client: httpx.AsyncClient, words: str) -> str:
    """The page of people up to some words."""
    return (await client.get("/people/")).text.partition(words)[0]


async def test_what_a_token_has_open_ends_with_it(team: Team) -> None:
    team.command("add", "Bjarne")
    async with team.browser("Bjarne") as browser:
        header = await csrf(browser)
        made = await browser.post("/you/token", data={"name": "x", "role": "see"}, headers=header)
        token, number = re.search(r"ocw_[\w-]+", made.text), re.search(r'"id": "(\d+)"', made.text)
        assert token
        assert number
        async with team.client(token[0]) as client, client.stream("GET", "/event") as events:
            lines = events.aiter_lines()
            while "server.connected" not in await anext(lines):
                pass
            await browser.post("/you/token/remove", data={"id": number[1]}, headers=header)
            async for _ in lines:
                pass
            assert (await client.get("/session")).status_code == 401


async def _ends(lines: AsyncIterator[str]) -> None:
    async for _ in lines:
        pass


@asynccontextmanager
async def _listening(client: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[str]]:
    """To the events of the server, once they come."""
    async with client.stream("GET", "/event") as events:
        lines = events.aiter_lines()
        while "server.connected" not in await anext(lines):
            pass
        yield lines


async def test_who_is_switched_off_elsewhere_has_nothing_open(team: Team) -> None:
    """The command line is another process than the server."""
    token = team.token("Frances", "ask")
    async with team.browser("Frances") as browser, team.client(token) as client:
        async with _listening(browser) as one, _listening(client) as two:
            team.command("off", "Frances")
            await _ends(one)
            await _ends(two)
        assert (await client.get("/session")).status_code == 401


async def test_another_role_closes_what_is_open(team: Team) -> None:
    token = team.token("Kathleen", "approve")
    other = team.token("Mary", "see")
    async with team.client(token) as client, team.client(other) as theirs, _listening(theirs) as stays:
        async with _listening(client) as lines:
            team.command("role", "Kathleen", "see")
            await _ends(lines)
        async with _listening(client):
            made = await theirs.get("/session")
            assert made.status_code == 200
        assert await anext(stays) is not None


async def test_a_new_password_ends_the_other_sign_ins(team: Team) -> None:
    team.command("add", "Hedy")
    async with team.browser("Hedy") as other, team.client() as browser:
        form = {"login": "Hedy", "password": PASSWORD}
        assert (await browser.post("/login", data=form)).status_code == 302
        new = "another battery staple"
        chosen = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        async with _listening(other) as lines:
            changed = await browser.post("/you/password", data=chosen, headers=await csrf(browser))
            assert changed.status_code == 302, changed.text
            await _ends(lines)
        assert (await other.get("/you/", headers={"Accept": "*/*"})).status_code == 401
        assert (await browser.get("/you/")).status_code == 200
    async with team.browser("Hedy"), team.client() as again:
        assert (await again.post("/login", data={"login": "Hedy", "password": new})).status_code == 200


async def test_who_prompted_is_written_down_and_may_not_allow(tmp_path: Path) -> None:
    turns = [Turn(tools=[ToolUse("bash", {"command": "touch made"})]), Turn(text="Done.")]
    folder = tmp_path / "home", tmp_path / "project"
    for path in folder:
        path.mkdir()
    async with OpenAIServer(turns) as model:
        config = model_config(model.base_url, permission={"*": "allow", "bash": "ask"})
        server = Server(*folder, config, {**TEAM, "OPENCODE_WEB_TWO_PEOPLE": "1"})
        await asyncio.to_thread(server.start)
        try:
            await _two_people(Team(server))
        finally:
            await asyncio.to_thread(server.stop)


async def _two_people(team: Team) -> None:
    ada, grace = team.token("Ada", "approve"), team.token("Grace", "approve")
    async with team.client(ada) as hers, team.client(grace) as theirs:
        session = (await hers.post("/session", json={})).json()
        said = {"parts": [{"type": "text", "text": "Make it."}]}
        async with theirs.stream("GET", "/event") as events:
            await hers.post(f"/session/{session['id']}/prompt_async", json=said)
            async for line in events.aiter_lines():
                if "permission.asked" in line:
                    break
        asked = (await hers.get("/permission")).json()[0]["id"]
        once = {"reply": "once"}
        refused = await hers.post(f"/permission/{asked}/reply", json=once)
        assert "another person" in refused.text
        assert refused.status_code == 400
        assert (await theirs.post(f"/permission/{asked}/reply", json=once)).status_code == 200
        page = await hers.get(f"/p/{session['projectID']}/s/{session['id']}")
        assert "by Ada" in page.text


async def test_a_proxy_says_who_asks(team: Team) -> None:
    team.command("add", "Radia")
    async with team.client() as client:
        client.headers["X-Remote-User"] = "Radia"
        assert "Radia" in (await client.get("/you/")).text
        form = {"name": "x", "role": "see"}
        assert (await client.post("/you/token", data=form)).status_code == 403
        assert (await client.post("/you/token", data=form, headers=await csrf(client))).status_code == 200
        assert (await client.get("/settings")).status_code == 403
        client.headers["X-Remote-User"] = "Somebody"
        assert (await client.get("/you/")).status_code == 403


async def test_nobody_else_says_who_asks(tmp_path: Path) -> None:
    for path in (tmp_path / "home", tmp_path / "project"):
        path.mkdir()
    environ = {**TEAM, **BY_PROXY, "OPENCODE_WEB_TRUSTED_PROXY": "192.0.2.1"}
    server = Server(tmp_path / "home", tmp_path / "project", {}, environ)
    await asyncio.to_thread(server.start)
    try:
        team = Team(server)
        team.command("add", "Radia")
        async with team.client() as client:
            answer = await client.get("/you/", headers={"X-Remote-User": "Radia"})
            assert answer.status_code == 401
    finally:
        await asyncio.to_thread(server.stop)


async def test_a_device_of_ones_own_is_signed_in_by_a_code(team: Team) -> None:
    team.command("add", "Margaret")
    async with team.browser("Margaret") as browser:
        given = {"base": team.server.url}
        shown = await browser.post("/you/device", data=given, headers=await csrf(browser))
        link = unescape(re.findall(r'data-copy="([^"]+)"', shown.text)[0])
        async with team.client() as phone:
            phone.headers["User-Agent"] = "Mozilla/5.0 (iPhone) Version/18.0 Safari/604.1"
            assert (await phone.get(link)).headers["location"] == "/"
            assert "Margaret" in (await phone.get("/you/")).text
            own = (await browser.get("/you/")).text
            assert "Safari on iPhone" in own
            ids = re.findall(r'hx-vals=\'{"id": "([^"]+)"}\'', own)
            id = unescape(ids[0]).encode().decode("unicode_escape")
            await browser.post("/you/sign-out", data={"id": id}, headers=await csrf(browser))
            assert (await phone.get("/you/", headers={"Accept": "*/*"})).status_code == 401
        async with team.client() as thief:
            assert (await thief.get(link)).headers["location"] == "/"
            assert (await thief.get("/you/", headers={"Accept": "*/*"})).status_code == 401
