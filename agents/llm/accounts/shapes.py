"""The wire's shapes of keys and sign-ins, in both protocols."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from agents.llm.accounts.attempts import Attempt
from agents.llm.accounts.state import State
from sessions.core.wire.base import Wire


class _Entry(Wire):
    """Of `auth.json`; what else a client sends is not kept."""

    model_config = ConfigDict(populate_by_name=True, extra="ignore")


class ApiAuth(_Entry):
    type: Literal["api"]
    key: str
    metadata: dict[str, str] | None = None


class OAuth(_Entry):
    """`expires` is in milliseconds since the epoch, 0 where it is not known."""

    type: Literal["oauth"]
    refresh: str
    access: str
    expires: int = Field(ge=0)
    account_id: str | None = Field(default=None, alias="accountId")
    enterprise_url: str | None = Field(default=None, alias="enterpriseUrl")


class WellKnownAuth(_Entry):
    type: Literal["wellknown"]
    key: str
    token: str


Auth = Annotated[ApiAuth | OAuth | WellKnownAuth, Field(discriminator="type")]


class When(Wire):
    key: str
    op: Literal["eq", "neq"]
    value: str


class TextPrompt(Wire):
    type: Literal["text"]
    key: str
    message: str
    placeholder: str | None = None
    when: When | None = None


class Option(Wire):
    label: str
    value: str
    hint: str | None = None


class SelectPrompt(Wire):
    type: Literal["select"]
    key: str
    message: str
    options: list[Option]
    when: When | None = None


Prompt = Annotated[TextPrompt | SelectPrompt, Field(discriminator="type")]


class AuthMethod(Wire):
    type: Literal["oauth", "api"]
    label: str
    prompts: list[Prompt] | None = None


class Authorize(Wire):
    method: int
    inputs: dict[str, str] = Field(default_factory=dict)


class Authorization(Wire):
    url: str
    method: Literal["auto", "code"]
    instructions: str


class Callback(Wire):
    method: int
    code: str | None = None


class ConnectKey(Wire):
    key: str
    label: str = ""


class ConnectOAuth(Wire):
    method_id: str = Field(alias="methodID")
    inputs: dict[str, str] = Field(default_factory=dict)
    label: str = ""


class Label(Wire):
    label: str


class Complete(Wire):
    code: str | None = None


class Period(Wire):
    created: int
    expires: int


class IntegrationAttempt(Wire):
    attempt_id: str = Field(alias="attemptID")
    url: str
    instructions: str
    mode: Literal["auto", "code"]
    time: Period


class AttemptStatus(Wire):
    status: Literal["pending", "complete", "failed", "expired"]
    message: str | None = None
    time: Period


class IntegrationMethod(Wire):
    """`id` and `label` of a sign-in, `names` of variables of the environment."""

    type: Literal["oauth", "key", "env"]
    id: str | None = None
    label: str | None = None
    names: list[str] | None = None
    prompts: list[Prompt] | None = None


class Connection(Wire):
    type: Literal["credential", "env"]
    id: str | None = None
    label: str | None = None
    name: str | None = None


class Integration(Wire):
    id: str
    name: str
    methods: list[IntegrationMethod]
    connections: list[Connection]


CREDENTIAL = "cred_"


def integration(state: State) -> dict[str, Any]:
    """A provider with its ways in and what connects it, without any secret."""
    methods: list[dict[str, Any]] = [{"type": "key"}] if state.takes_key else []
    if state.env:
        methods.append({"type": "env", "names": list(state.env)})
    for method in state.methods:
        prompts = {"prompts": [dict(prompt) for prompt in method.prompts]} if method.prompts else {}
        methods.append({"id": method.id, "type": "oauth", "label": method.label, **prompts})
    connections: list[dict[str, Any]] = []
    if state.by in ("sign-in", "key"):
        connections = [{"type": "credential", "id": CREDENTIAL + state.id, "label": state.label or "default"}]
    elif state.by == "environment":
        connections = [{"type": "env", "name": state.detail}]
    return {"id": state.id, "name": state.name, "methods": methods, "connections": connections}


def attempt_shape(attempt: Attempt) -> dict[str, Any]:
    return {
        "attemptID": attempt.id,
        "url": attempt.begun.url,
        "instructions": attempt.begun.instructions,
        "mode": attempt.begun.mode,
        "time": {"created": attempt.created, "expires": attempt.expires},
    }


def attempt_status(attempt: Attempt) -> dict[str, Any]:
    said = {"message": attempt.message} if attempt.status == "failed" else {}
    return {
        "status": attempt.status,
        **said,
        "time": {"created": attempt.created, "expires": attempt.expires},
    }
