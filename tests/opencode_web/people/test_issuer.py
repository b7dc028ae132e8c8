"""Signing in at an issuer of OpenID Connect: who comes in, and what of it is refused."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.opencode_web.people.conftest import PASSWORD, TEAM, Team, csrf
from tests.opencode_web.people.issuer import CLIENT_ID, CLIENT_SECRET, Claims, Issuer
from tests.server import Server

HTML = {"Accept": "text/html"}
REFUSED = "That did not work"


@pytest.fixture(scope="module")
def issuer() -> Iterator[Issuer]:
    with Issuer() as issuer:
        yield issuer


@pytest.fixture(autouse=True)
def honest(issuer: Issuer) -> Iterator[None]:
    """What one test has the issuer do wrong, the next does not."""
    before = dict(vars(issuer))
    yield
    vars(issuer).update(before)


def begun(folder: Path, issuer: Issuer, link: str) -> Server:
    for path in (folder / "home", folder / "project"):
        path.mkdir(parents=True)
    environ = {
        **TEAM,
        "OPENCODE_WEB_OIDC_ISSUER": issuer.address,
        "OPENCODE_WEB_OIDC_CLIENT_ID": CLIENT_ID,
        "OPENCODE_WEB_OIDC_CLIENT_SECRET": CLIENT_SECRET,
        "OPENCODE_WEB_OIDC_NAME": "Example Inc.",
        "OPENCODE_WEB_OIDC_LINK": link,
    }
    server = Server(folder / "home", folder / "project", {}, environ)
    server.start()
    return server


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Team]:
    """A server that takes the issuer's word on addresses. Ada is there."""
    server = begun(tmp_path_factory.mktemp("linked"), issuer, "email")
    team = Team(server)
    team.command("add", "Ada", "--email", "Ada@Example.com")
    yield team
    server.stop()


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory, issuer: Issuer) -> Iterator[Team]:
    """One that does not."""
    server = begun(tmp_path_factory.mktemp("strict"), issuer, "")
    yield Team(server)
    server.stop()


async def through(browser: httpx.AsyncClient, begin: str = "/login/by") -> httpx.Response:
    """What comes of a sign-in, as a browser goes through it: to the issuer, back without the strict cookies,
    and once more with them. Who links an account says the password again."""
    to_issuer = await browser.get(begin, headers=HTML, follow_redirects=False)
    assert to_issuer.status_code == 302, to_issuer.text
    async with httpx.AsyncClient(trust_env=False) as elsewhere:
        back = (await elsewhere.get(to_issuer.headers["location"])).headers["location"]
        bounced = await elsewhere.get(
            back, headers={**HTML, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        )
    assert bounced.status_code == 200, bounced.text
    again = re.search(r'content="0;url=([^"]+)"', bounced.text)
    assert again, bounced.text
    answer = await browser.get(unescape(again[1]), headers=HTML, follow_redirects=True)
    if answer.url.path != "/you/again":
        return answer
    header = await csrf(browser, str(answer.url))
    return await browser.post(answer.url, data={"password": PASSWORD}, headers=header, follow_redirects=True)


async def is_in(browser: httpx.AsyncClient) -> bool:
    return (await browser.get("/you/", headers={"Accept": "*/*"})).status_code == 200


async def test_the_form_leads_there(linked: Team) -> None:
    async with linked.client() as browser:
        form = await browser.get("/login?next=/%3Fchoose", headers=HTML)
        assert "Sign in by Example Inc." in " ".join(form.text.split())
        assert "/login/by?next=/%3Fchoose" in form.text.replace("%2F", "/")


async def test_who_has_the_address_of_a_person_is_that_person(linked: Team, issuer: Issuer) -> None:
    async with linked.client() as browser:
        answer = await through(browser, "/login/by?next=/you/")
        assert answer.url.path == "/you/"
        assert "You may sign in by" in answer.text
    asked = issuer.asked[-1]
    assert set(asked["scope"].split()) == {"openid", "profile", "email"}
    assert asked["code_challenge_method"] == "S256"
    issuer.person = {
        **issuer.person,
        "email": "another@example.com",
    }  # it is linked, so this is nothing to us
    async with linked.client() as browser:
        assert (await through(browser)).status_code == 200
        assert await is_in(browser)


def another_key(issuer: Issuer) -> None:
    issuer.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def no_key(issuer: Issuer) -> None:
    issuer.key, issuer.algorithm = None, "none"  # type: ignore[assignment]


def another_name(issuer: Issuer) -> None:
    issuer.calls_itself = "https://login.example.com"


def another_person(issuer: Issuer) -> None:
    issuer.userinfo = {"sub": "2"}


def with_claims(**claims: Any) -> Callable[[Issuer], None]:
    def amended(given: Claims) -> Claims:
        return {name: value for name, value in {**given, **claims}.items() if value is not None}

    def amend(issuer: Issuer) -> None:
        issuer.amend = amended

    return amend


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(with_claims(nonce="of another sign-in"), id="nonce"),
        pytest.param(with_claims(nonce=None), id="no nonce"),
        pytest.param(with_claims(aud="another client"), id="audience"),
        pytest.param(with_claims(aud=[CLIENT_ID, "another"], azp="another"), id="authorized party"),
        pytest.param(with_claims(iss="https://evil.example.com"), id="issuer"),
        pytest.param(with_claims(exp=int(time.time()) - 600), id="expired"),
        pytest.param(with_claims(exp=None), id="never expires"),
        pytest.param(another_key, id="another key"),
        pytest.param(no_key, id="not signed"),
        pytest.param(another_person, id="somebody else's userinfo"),
    ],
)
async def test_a_wrong_token_is_refused(
    linked: Team, issuer: Issuer, wrong: Callable[[Issuer], None]
) -> None:
    wrong(issuer)
    async with linked.client() as browser:
        answer = await through(browser)
        assert answer.status_code == 401
        assert REFUSED in answer.text
        assert not await is_in(browser)


async def test_an_issuer_that_calls_itself_otherwise_is_refused(linked: Team, issuer: Issuer) -> None:
    another_name(issuer)
    async with linked.client() as browser:
        answer = await browser.get("/login/by", headers=HTML)
        assert answer.status_code == 401
        assert REFUSED in answer.text


async def test_the_state_is_of_the_browser_that_began(linked: Team) -> None:
    """Else a link of somebody's would sign another person in as them."""
    async with linked.client() as browser, linked.client() as victim:
        to_issuer = await browser.get("/login/by", headers=HTML)
        async with httpx.AsyncClient(trust_env=False) as elsewhere:
            back = (await elsewhere.get(to_issuer.headers["location"])).headers["location"]
        for address in (f"{back}&_redir=", re.sub(r"state=[^&]+", "state=x", f"{back}&_redir=")):
            answer = await victim.get(address, headers=HTML)
            assert answer.status_code == 401
            assert not await is_in(victim)
        code = parse_qs(urlsplit(back).query)["code"][0]
        answer = await browser.get(f"/login/by/back?code={code}&_redir=", headers=HTML)
        assert answer.status_code == 401
        assert not await is_in(browser)


async def test_who_refuses_there_is_not_signed_in(linked: Team, issuer: Issuer) -> None:
    issuer.refuses = True
    async with linked.client() as browser:
        assert (await through(browser)).url.path == "/login"
        assert not await is_in(browser)


@pytest.mark.parametrize("email", ["ada@example.com", "somebody@example.com"])
async def test_an_address_that_is_not_verified_is_nobodys(linked: Team, issuer: Issuer, email: str) -> None:
    issuer.person = {"sub": f"unverified {email}", "email": email, "email_verified": False}
    async with linked.client() as browser:
        answer = await through(browser)
        assert "nobody’s here" in answer.text
        assert not await is_in(browser)


async def test_without_its_word_people_link_themselves(strict: Team, issuer: Issuer) -> None:
    strict.command("add", "Ada", "--email", "ada@example.com")
    async with strict.client() as browser:
        assert "nobody’s here" in (await through(browser)).text
        assert not await is_in(browser)
    async with strict.browser("Ada") as browser:
        answer = await through(browser, "/login/by?process=connect")
        assert answer.url.path == "/you/"
        assert "You may sign in by" in answer.text
    async with strict.client() as browser:
        await through(browser)
        assert "<h1>Ada</h1>" in (await browser.get("/you/")).text
        unlinked = await browser.post("/you/unlink", headers=await csrf(browser))
        assert "Link your account" in unlinked.text
    async with strict.client() as browser:
        assert "nobody’s here" in (await through(browser)).text


async def test_nobody_links_without_being_signed_in(strict: Team, issuer: Issuer) -> None:
    issuer.person = {"sub": "3"}
    async with strict.client() as browser:
        await through(browser, "/login/by?process=connect")
        assert not await is_in(browser)


async def test_an_account_that_is_somebodys_is_not_linked_again(strict: Team, issuer: Issuer) -> None:
    issuer.person = {"sub": "4"}
    for name in ("Grace", "Barbara"):
        strict.command("add", name)
    async with strict.browser("Grace") as browser:
        assert "You may sign in by" in (await through(browser, "/login/by?process=connect")).text
    async with strict.browser("Barbara") as browser:
        assert "Link your account" in (await through(browser, "/login/by?process=connect")).text


async def test_who_is_switched_off_stays_out(strict: Team, issuer: Issuer) -> None:
    issuer.person = {"sub": "5"}
    strict.command("add", "Edsger")
    async with strict.browser("Edsger") as browser:
        await through(browser, "/login/by?process=connect")
    strict.command("off", "Edsger")
    async with strict.client() as browser:
        assert "switched off" in (await through(browser)).text
        assert not await is_in(browser)


async def test_a_password_still_signs_in(strict: Team) -> None:
    strict.command("add", "Alan")
    async with strict.browser("Alan"):
        pass
    async with strict.client() as browser:
        form = {"login": "Alan", "password": PASSWORD}
        assert (await browser.post("/login", data=form)).status_code == 302
