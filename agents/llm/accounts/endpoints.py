"""The addresses that sign-ins go to: the one place where they are read.

Each has the public default and may be set in the environment (`sessions.core.variables`), for a mirror or for
tests. The applications are OpenCode's and Codex's, as `auth.json` is shared with OpenCode and a token is
renewed by the application that got it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessions.core import variables


@dataclass(frozen=True, slots=True)
class GitHub:
    """The addresses of one GitHub, without a slash at the end, and the application that asks there."""

    web: str
    api: str
    copilot: str
    client_id: str


@dataclass(frozen=True, slots=True)
class OpenAI:
    """`auth` are OpenAI's accounts, `models` ChatGPT's interface; the browser comes back to `port`."""

    auth: str
    models: str
    client_id: str
    port: int


def github(domain: str = "") -> GitHub:
    """github.com's addresses, or those of GitHub Enterprise at a domain."""
    names = (variables.GITHUB_URL, variables.GITHUB_API_URL, variables.COPILOT_URL)
    if domain:
        names = (
            variables.GITHUB_ENTERPRISE_URL,
            variables.GITHUB_ENTERPRISE_API_URL,
            variables.COPILOT_ENTERPRISE_URL,
        )
    web, api, copilot = (name.read().replace("{domain}", domain).rstrip("/") for name in names)
    return GitHub(web, api, copilot, variables.GITHUB_CLIENT_ID.read())


def openai() -> OpenAI:
    auth, models = (name.read().rstrip("/") for name in (variables.OPENAI_AUTH_URL, variables.CHATGPT_URL))
    port = variables.CHATGPT_PORT.read()
    known = port if port.isdecimal() and int(port) < 65_536 else variables.CHATGPT_PORT.default
    return OpenAI(auth, models, variables.CHATGPT_CLIENT_ID.read(), int(known))


def private_hosts() -> bool:
    """Whether a company's GitHub may be at an address that only its own network has."""
    return bool(variables.PRIVATE_HOSTS.read())
