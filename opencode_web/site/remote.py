"""Where this server can be reached, and how that is protected: looked at from here, as others would come."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from django.utils.translation import gettext, ngettext

from agents.llm import bounded
from opencode_web.site import request_id
from opencode_web.site.security.hosts import is_loopback, is_wildcard
from opencode_web.site.served import Served, served
from sessions.core.ids import ascending

if TYPE_CHECKING:
    import httpx

SECONDS = 5.0
"""For one look."""
LEAST_PASSWORD = 12
"""Characters of a password that others may try."""
_DAYS = 24 * 3600.0
_SOON = 14
"""Days before its end at which a certificate is worth a word."""
_MOST = 256 * 1024
_TAILSCALE = (ipaddress.ip_network("100.64.0.0/10"), ipaddress.ip_network("fd7a:115c:a1e0::/48"))

State = Literal["good", "warn", "bad", "info"]


class NotServed(ValueError):
    """The server is not there by that name; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found, in a sentence, and what can be done about it."""

    state: State
    title: str
    detail: str = ""

    def wire(self) -> dict[str, str]:
        return asdict(self)


def origins() -> list[str]:
    """Of its own pages, loopback's only where there is no other name."""
    own = served()
    if own is None:
        return []
    port = own.policy.port
    found = {origin.decode() for origin in own.policy.origins}
    # Of a name without a port the page behind a proxy is meant, and the one at our own port.
    return [one for one in found if urlsplit(one).port == port or one.startswith("https://")]


async def examine() -> list[Finding]:
    """Everything there is to say. Takes seconds where a name does not answer."""
    own = served()
    if own is None:
        return []
    async with bounded.client(_MOST, timeout=SECONDS, follow_redirects=False) as client:
        looks = await asyncio.gather(*(_look_at(client, own, name) for name in own.names))
        local = await asyncio.gather(_login(client, own), _hosts(client, own))
    return [_listens(own), _password(own), *local, *(one for found in looks for one in found)]


def _listens(served: Served) -> Finding:
    port = served.policy.port
    if is_loopback(served.hostname):
        title = gettext("It listens on this machine alone (port %(port)s).") % {"port": port}
        return Finding("good", title, gettext("Others come by a tunnel or a proxy of this machine, or not."))
    where = gettext("all addresses") if is_wildcard(served.hostname) else served.hostname
    title = gettext("It listens on %(where)s, port %(port)s.") % {"where": where, "port": port}
    detail = gettext(
        "Whoever reaches this machine reaches it: without encryption, unless the network has its own."
    )
    return Finding("warn", title, detail)


def _password(served: Served) -> Finding:
    if not served.policy.guessable:
        return Finding("good", gettext("Its password is 256 random bits, in a file that you alone can read."))
    if len(served.policy.password) < LEAST_PASSWORD:
        detail = gettext("Choose %(count)s characters at least, or none: then it has a random one.")
        return Finding("bad", gettext("Its password is short."), detail % {"count": LEAST_PASSWORD})
    return Finding("good", gettext("It has a password of yours; wrong ones are answered ever later."))


async def _login(client: httpx.AsyncClient, served: Served) -> Finding:
    if await _asks_for_login(client, served.url):
        return Finding("good", gettext("It asks for a sign-in, on this machine too."))
    return Finding("bad", gettext("It shows pages without a sign-in."))


async def _hosts(client: httpx.AsyncClient, served: Served) -> Finding:
    """DNS rebinding: a page of another name is to reach nothing."""
    answer = await _get(client, f"{served.url}/ready", {"host": f"rebound.invalid:{served.policy.port}"})
    if answer is not None and not isinstance(answer, str) and answer.status_code == 421:
        return Finding("good", gettext("It answers to its own names alone."))
    return Finding("bad", gettext("It answers to names that are not its own."))


async def _look_at(client: httpx.AsyncClient, served: Served, name: str) -> list[Finding]:
    """How the server is reached by one of its names."""
    ways = list(_ways(served, name))
    found = await asyncio.gather(*(_look(client, f"{way}{served.policy.base}") for way in ways))
    there = [(way, look) for way, look in zip(ways, found, strict=True) if look.ours or look.problem]
    if not there:
        title = gettext("%(name)s does not lead here.") % {"name": name}
        detail = gettext("No answer at %(ways)s. A router may keep a machine from its own name, though.")
        return [Finding("info", title, detail % {"ways": ", ".join(ways)})]
    findings = [finding for way, look in there for finding in _judged(name, way, look)]
    encrypted = any(way.startswith("https:") and look.ours for way, look in there)
    if encrypted and not served.policy.trusted_proxies:
        findings.append(
            Finding(
                "warn",
                gettext("What stands before it is not named in OPENCODE_WEB_TRUSTED_PROXY."),
                gettext("So cookies may go unencrypted, and wrong passwords of all count as those of one."),
            )
        )
    return findings


def _ways(served: Served, name: str) -> Iterator[str]:
    yield f"https://{name}"
    if urlsplit(f"//{name}").port:
        yield f"http://{name}"
        return
    yield f"http://{name}:{served.policy.port}"
    if served.policy.port != 80:
        yield f"http://{name}"


@dataclass(frozen=True, slots=True)
class _Look:
    """`ours`: it is this server that answers. `problem` is why an encrypted connection was not believed.
    `login`: it asked for one. `address` is where the connection went, `expires` when the certificate does."""

    ours: bool = False
    problem: str = ""
    login: bool = False
    address: str = ""
    expires: float | None = None


async def _look(client: httpx.AsyncClient, url: str) -> _Look:
    nonce = ascending("req")
    answer = await _get(client, f"{url}/ready", {request_id.HEADER.decode(): nonce})
    if isinstance(answer, str):
        return _Look(problem=answer)
    if answer is None or answer.headers.get(request_id.HEADER.decode()) != nonce:
        return _Look()
    stream: Any = answer.extensions.get("network_stream")
    to = stream.get_extra_info("server_addr") if stream else None
    secured = stream.get_extra_info("ssl_object") if stream else None
    ends = (secured.getpeercert() or {}).get("notAfter") if secured else None
    return _Look(
        ours=True,
        login=await _asks_for_login(client, url),
        address=str(to[0]) if to else "",
        expires=ssl.cert_time_to_seconds(ends) if ends else None,
    )


def _judged(name: str, way: str, look: _Look) -> Iterator[Finding]:
    if look.problem:
        title = gettext("%(way)s has a certificate that browsers do not take.") % {"way": way}
        yield Finding("bad", title, look.problem)
        return
    if way.startswith("https:"):
        title = gettext("%(way)s leads here, encrypted.") % {"way": way}
        yield Finding("good", title, _expiry(look.expires))
        if look.expires is not None and look.expires - time.time() < _SOON * _DAYS:
            yield Finding("warn", gettext("The certificate of %(name)s ends soon.") % {"name": name})
    elif _is_of_tailscale(look.address):
        yield Finding("good", gettext("%(way)s leads here by Tailscale, which encrypts.") % {"way": way})
    elif look.address and is_loopback(look.address):
        yield Finding("info", gettext("%(way)s leads here from this machine.") % {"way": way})
    else:
        yield Finding(
            "bad",
            gettext("%(way)s leads here without encryption.") % {"way": way},
            gettext("Passwords and cookies can be read on the way: use a proxy with TLS, or a tunnel."),
        )
    if not look.login:
        yield Finding(
            "bad",
            gettext("%(way)s shows pages without our sign-in.") % {"way": way},
            gettext("Something on the way signs everybody in."),
        )


def _expiry(moment: float | None) -> str:
    if moment is None:
        return ""
    days = int((moment - time.time()) / _DAYS)
    return ngettext(
        "Its certificate is good for %(count)s day more.",
        "Its certificate is good for %(count)s days more.",
        days,
    ) % {"count": days}


def _is_of_tailscale(address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in _TAILSCALE if network.version == found.version)


async def _asks_for_login(client: httpx.AsyncClient, url: str) -> bool:
    """Whether who shows nothing is led to a sign-in: ours, or one that stands before it."""
    answer = await _get(client, f"{url}/?choose", {"accept": "text/html"})  # leads to no project
    if answer is None or isinstance(answer, str):
        return True
    return answer.is_redirect or answer.status_code in (401, 403)


async def _get(client: httpx.AsyncClient, url: str, headers: dict[str, str]) -> httpx.Response | str | None:
    """None where nobody answers; a text says what is wrong with the certificate."""
    import httpx

    try:
        return await client.get(url, headers=headers)
    except httpx.ConnectError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return cause.verify_message
            cause = cause.__cause__ or cause.__context__
        return None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError):
        return None


def worst(found: Iterable[Finding]) -> State:
    """Of all."""
    order: tuple[State, ...] = ("bad", "warn", "good", "info")
    return min((one.state for one in found), key=order.index, default="info")
