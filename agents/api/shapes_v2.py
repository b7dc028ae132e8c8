"""Wire shapes of agents, models, providers, commands and skills in OpenCode's second protocol."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from agents.api.shapes import Cost, Limit, Stage
from agents.config import Action
from sessions.wire.base import Wire
from sessions.wire.session import SessionModel


class Asking(Wire):
    """What requests to a model hold beside the conversation."""

    headers: dict[str, str]
    body: dict[str, Any]


class Rule(Wire):
    action: str
    resource: str
    effect: Action


class AgentV2(Wire):
    id: str
    model: SessionModel | None = None
    request: Asking
    system: str | None = None
    description: str | None = None
    mode: Literal["subagent", "primary", "all"]
    hidden: bool
    color: str | None = None
    steps: int | None = None
    permissions: list[Rule]


class Api(Wire):
    """`aisdk`: by a package of the AI SDK; `native`: by the program itself."""

    type: Literal["aisdk", "native"]
    package: str | None = None
    url: str | None = None
    settings: dict[str, Any] | None = None


class ModelApiV2(Api):
    id: str


class ModelCapabilities(Wire):
    tools: bool
    input: list[str]
    output: list[str]


class Variant(Asking):
    id: str


class Released(Wire):
    """Milliseconds since 1970; 0 where it is not known."""

    released: int


class ModelV2(Wire):
    id: str
    provider_id: str = Field(alias="providerID")
    family: str | None = None
    name: str
    api: ModelApiV2
    capabilities: ModelCapabilities
    request: Asking
    variants: list[Variant]
    time: Released
    cost: list[Cost]
    status: Stage
    enabled: bool
    limit: Limit


class ProviderV2(Wire):
    id: str
    name: str
    api: Api
    request: Asking


class CommandV2(Wire):
    name: str
    template: str
    description: str | None = None
    agent: str | None = None
    model: SessionModel | None = None
    subtask: bool | None = None


class SkillV2(Wire):
    name: str
    description: str | None = None
    slash: bool | None = None
    location: str
    content: str
