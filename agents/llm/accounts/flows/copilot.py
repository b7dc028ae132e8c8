"""GitHub Copilot: signing in by device code (RFC 8628), at github.com or a company's GitHub.

GitHub's token is either taken by Copilot as it is, or exchanged there for one that lasts half an hour. Which
of both depends on the application that signed in, so the exchange is tried: an entry with `expires` 0 has a
token that is used as it is.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from agents.llm.accounts.endpoints import GitHub, github, private_hosts
from agents.llm.accounts.flows.base import (
    USER_AGENT,
    Begun,
    Flow,
    Inputs,
    InvalidInput,
    Method,
    Refused,
    SignInFailed,
    Unreachable,
    seconds_in,
    text_in,
)
from agents.llm.accounts.flows.web import Answer, ask
from agents.llm.auth import Entry
from agents.llm.types import FileContent, ModelRequest
from sessions.core.sentences import Sentence

# The domain of a company's GitHub, as a person gives it.

FIELD = "enterpriseUrl"
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}$)(?:{_LABEL}\.)+(?!\d+$){_LABEL}")
"""A host name with a dot in it, and no address (RFC 1123, section 2.1)."""


async def enterprise_domain(given: str) -> str:
    """The bare domain of `company.ghe.com` or `https://company.ghe.com/`.

    Raises InvalidInput for anything else, and for a name of this machine or of a private network: a request
    with a secret in it would go there. OPENCODE_WEB_PRIVATE_HOSTS allows those.
    """
    name = given.strip().lower().removeprefix("https://").removesuffix("/").removesuffix(".")
    if not _NAME.fullmatch(name):
        raise InvalidInput(FIELD, Sentence("This is no domain. It looks like company.ghe.com."))
    if not private_hosts() and not await _is_public(name):
        raise InvalidInput(
            FIELD,
            Sentence(
                "%(name)s is at an address of this machine or of a private network. Set "
                "OPENCODE_WEB_PRIVATE_HOSTS=1 to allow that.",
                name=name,
            ),
        )
    return name


async def _is_public(name: str) -> bool:
    """Whether no address of the name is private. One that nobody knows is left to the request to report."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return not name.endswith((".localhost", ".local", ".internal"))
    addresses = [str(item[4][0]).partition("%")[0] for item in found]
    return all(ipaddress.ip_address(address).is_global for address in addresses)


_SCOPE = "read:user"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_INTERVAL = 5.0
_LASTS = 900.0
_EDITOR = {"editor-version": f"{USER_AGENT}/1", "copilot-integration-id": "vscode-chat"}
"""Copilot's own tokens are taken only beside the name of an editor and of an integration it knows."""


async def begin(inputs: Inputs) -> Begun:
    """Ask GitHub for a code."""
    kind = inputs.get("deploymentType") or "github.com"
    if kind not in ("github.com", "enterprise"):
        raise InvalidInput("deploymentType", Sentence("It is either github.com or enterprise."))
    domain = await enterprise_domain(inputs.get(FIELD, "")) if kind == "enterprise" else ""
    place = github(domain)
    answer = await ask(
        "POST", f"{place.web}/login/device/code", body={"client_id": place.client_id, "scope": _SCOPE}
    )
    device, code = text_in(answer.data, "device_code"), text_in(answer.data, "user_code")
    if not (answer.ok and device and code):
        raise SignInFailed(Sentence("GitHub gave no code: %(reason)s", reason=answer.reason))
    interval = seconds_in(answer.data, "interval", _INTERVAL)
    return Begun(
        url=_page(place, text_in(answer.data, "verification_uri")),
        instructions=Sentence("Enter code: %(code)s", code=code),
        finish=partial(_finish, place, domain, device, interval),
        seconds=seconds_in(answer.data, "expires_in", _LASTS),
        code=code,
    )


async def renew(entry: Entry) -> Entry:
    """A new token of Copilot for GitHub's."""
    place = github(entry.get("enterpriseUrl") or "")
    if not entry.get("expires"):
        raise Refused(Sentence("GitHub no longer takes this sign-in"))
    answer = await _exchange(place, entry["refresh"])
    if answer.status >= 500 or answer.status == 429:
        raise Unreachable(Sentence("GitHub answered %(status)s.", status=answer.status))
    if not text_in(answer.data, "token"):
        raise Refused(_why(answer))
    return {**entry, **_token(answer)}


def prepare(request: ModelRequest, entry: Entry) -> ModelRequest:
    """Who begins matters: what an agent asks for by itself is not counted as a request of the person's."""
    last = request.messages[-1].role if request.messages else "user"
    headers = {
        "user-agent": USER_AGENT,
        "openai-intent": "conversation-edits",
        "x-initiator": "user" if last == "user" and not request.subagent else "agent",
        **(_EDITOR if entry.get("expires") else {}),
        **({"copilot-vision-request": "true"} if _has_image(request) else {}),
    }
    model = replace(
        request.model,
        base_url=github(entry.get("enterpriseUrl") or "").copilot,
        api_key=entry["access"],
        headers={**request.model.headers, **headers},
    )
    # Copilot's editors name no cache of a session: it is not known whether it would take one.
    return replace(request, model=model, session="")


async def _finish(place: GitHub, domain: str, device: str, interval: float) -> Entry:
    token = await _poll(place, device, interval)
    entry = {"type": "oauth", "refresh": token, "access": token, "expires": 0}
    if domain:
        entry["enterpriseUrl"] = domain
    answer = await _exchange(place, token)
    if "error_details" in answer.data:  # the account may not use Copilot, whatever the token
        raise SignInFailed(_why(answer))
    return {**entry, **_token(answer)} if text_in(answer.data, "token") else entry


async def _poll(place: GitHub, device: str, interval: float) -> str:
    """GitHub's token, once the person has entered the code."""
    body = {"client_id": place.client_id, "device_code": device, "grant_type": _GRANT}
    while True:
        await asyncio.sleep(interval)
        try:
            answer = await ask("POST", f"{place.web}/login/oauth/access_token", body=body)
        except Unreachable:
            interval *= 2  # RFC 8628, section 3.5
            continue
        if token := text_in(answer.data, "access_token"):
            return token
        match text_in(answer.data, "error"):
            case "authorization_pending":
                pass
            case "slow_down":
                interval = slower(answer.data, interval)
            case "expired_token":
                raise SignInFailed(Sentence("The code has expired. Begin again."))
            case "access_denied":
                raise SignInFailed(Sentence("The sign-in was cancelled at GitHub."))
            case _:
                raise SignInFailed(Sentence("GitHub refused the sign-in: %(reason)s", reason=answer.reason))


def slower(data: Mapping[str, Any], interval: float) -> float:
    """Seconds between two questions after `slow_down`: what GitHub says, else five more (RFC 8628)."""
    return seconds_in(data, "interval", interval + 5)


async def _exchange(place: GitHub, token: str) -> Answer:
    headers = {"authorization": f"token {token}", **_EDITOR}
    return await ask("GET", f"{place.api}/copilot_internal/v2/token", headers=headers)


def _token(answer: Answer) -> dict[str, Any]:
    expires = seconds_in(answer.data, "expires_at", 0)
    return {"access": text_in(answer.data, "token"), "expires": int(expires * 1000)}


def _why(answer: Answer) -> str:
    details = answer.data.get("error_details")
    said = text_in(details, "message") if isinstance(details, dict) else ""
    return Sentence("GitHub gives no access to Copilot: %(reason)s", reason=said[:300] or answer.reason)


def _page(place: GitHub, told: str) -> str:
    """Where the code is entered: never elsewhere than at a web address."""
    return told if told.startswith(("https://", f"{place.web}/")) else f"{place.web}/login/device"


def _has_image(request: ModelRequest) -> bool:
    contents = [item for message in request.messages for item in message.content]
    files = [*contents, *(file for item in contents for file in getattr(item, "attachments", ()))]
    return any(isinstance(file, FileContent) and file.mime.startswith("image/") for file in files)


FLOW = Flow(
    name="GitHub Copilot",
    methods=(
        Method(
            id="github-copilot",
            label="Login with GitHub Copilot",
            action=Sentence("Sign in with GitHub"),
            begin=begin,
            prompts=(
                {
                    "type": "select",
                    "key": "deploymentType",
                    "message": Sentence("Where is your GitHub?"),
                    "options": [
                        {"label": "GitHub.com", "value": "github.com", "hint": "Public"},
                        {
                            "label": Sentence("GitHub Enterprise"),
                            "value": "enterprise",
                            "hint": Sentence("Your company's own"),
                        },
                    ],
                },
                {
                    "type": "text",
                    "key": FIELD,
                    "message": Sentence("The domain of your GitHub Enterprise"),
                    "placeholder": "company.ghe.com",
                    "when": {"key": "deploymentType", "op": "eq", "value": "enterprise"},
                },
            ),
        ),
    ),
    renew=renew,
    prepare=prepare,
    rotates=False,
)
