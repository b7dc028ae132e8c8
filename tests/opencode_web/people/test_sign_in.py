"""People come in by their own names: links, passwords, tokens, proxies; and go out."""

from __future__ import annotations

import httpx

from tests.opencode_web.people.conftest import PASSWORD, Team, csrf

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
