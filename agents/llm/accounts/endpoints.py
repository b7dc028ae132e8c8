"""The addresses that sign-ins go to: the one place where they are read.

Each has the public default and may be set in the environment, for a mirror or for tests:

    OPENCODE_WEB_GITHUB_URL                  where a device code is entered and exchanged
    OPENCODE_WEB_GITHUB_API_URL              where GitHub's token becomes Copilot's
    OPENCODE_WEB_COPILOT_URL                 Copilot's models
    OPENCODE_WEB_GITHUB_ENTERPRISE_URL       the same three of GitHub Enterprise; `{domain}` stands for
    OPENCODE_WEB_GITHUB_ENTERPRISE_API_URL   the domain that was given
    OPENCODE_WEB_COPILOT_ENTERPRISE_URL
    OPENCODE_WEB_GITHUB_CLIENT_ID            the application that asks GitHub
    OPENCODE_WEB_OPENAI_AUTH_URL             OpenAI's accounts
    OPENCODE_WEB_CHATGPT_URL                 ChatGPT's models
    OPENCODE_WEB_CHATGPT_CLIENT_ID           the application that asks OpenAI
    OPENCODE_WEB_CHATGPT_PORT                where the browser is sent back to; OpenAI knows this one
    OPENCODE_WEB_PRIVATE_HOSTS               set: GitHub Enterprise may have a private address

The applications are OpenCode's and Codex's, as `auth.json` is shared with OpenCode and a token is renewed by
the application that got it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

_DEFAULTS = {
    "GITHUB_URL": "https://github.com",
    "GITHUB_API_URL": "https://api.github.com",
    "COPILOT_URL": "https://api.githubcopilot.com",
    "GITHUB_ENTERPRISE_URL": "https://{domain}",
    "GITHUB_ENTERPRISE_API_URL": "https://api.{domain}",
    "COPILOT_ENTERPRISE_URL": "https://copilot-api.{domain}",
    "GITHUB_CLIENT_ID": "Ov23li8tweQw6odWQebz",
    "OPENAI_AUTH_URL": "https://auth.openai.com",
    "CHATGPT_URL": "https://chatgpt.com/backend-api/codex",
    "CHATGPT_CLIENT_ID": "app_EMoamEEZ73f0CkXaXp7hrann",
    "CHATGPT_PORT": "1455",
    "PRIVATE_HOSTS": "",
}


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
    names = ("GITHUB_URL", "GITHUB_API_URL", "COPILOT_URL")
    if domain:
        names = ("GITHUB_ENTERPRISE_URL", "GITHUB_ENTERPRISE_API_URL", "COPILOT_ENTERPRISE_URL")
    web, api, copilot = (_value(name).replace("{domain}", domain).rstrip("/") for name in names)
    return GitHub(web, api, copilot, _value("GITHUB_CLIENT_ID"))


def openai() -> OpenAI:
    auth, models = (_value(name).rstrip("/") for name in ("OPENAI_AUTH_URL", "CHATGPT_URL"))
    port = _value("CHATGPT_PORT")
    known = port if port.isdecimal() and int(port) < 65_536 else _DEFAULTS["CHATGPT_PORT"]
    return OpenAI(auth, models, _value("CHATGPT_CLIENT_ID"), int(known))


def private_hosts() -> bool:
    """Whether a company's GitHub may be at an address that only its own network has."""
    return bool(_value("PRIVATE_HOSTS"))


def _value(name: str) -> str:
    return os.environ.get(f"OPENCODE_WEB_{name}") or _DEFAULTS[name]
