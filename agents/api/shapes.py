"""Wire shapes of providers, agents, tools and servers, as OpenCode's first protocol has them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, PositiveInt, RootModel

from sessions.core.wire.base import ModelRef, Wire
from sessions.core.wire.session import SessionRule


class ConfigPatch(RootModel[dict[str, Any]]):
    """A part of OpenCode's `Config`; null takes a key away."""


class ModelApi(Wire):
    id: str
    url: str
    npm: str


class Kinds(Wire):
    text: bool
    audio: bool
    image: bool
    video: bool
    pdf: bool


class InterleavedField(Wire):
    field: str


class ModelAbilities(Wire):
    temperature: bool
    reasoning: bool
    attachment: bool
    toolcall: bool
    input: Kinds
    output: Kinds
    interleaved: bool | InterleavedField


class CacheCost(Wire):
    read: float
    write: float


class Tier(Wire):
    """Tokens in a request from which on a price holds."""

    type: Literal["context"]
    size: int


class Cost(Wire):
    """US dollars per million tokens."""

    tier: Tier | None = None
    input: float
    output: float
    cache: CacheCost


class TieredCost(Cost):
    tiers: list[Cost] | None = None


class Limit(Wire):
    """Tokens."""

    context: int
    input: int | None = None
    output: int


Stage = Literal["alpha", "beta", "deprecated", "active"]


class ModelInfo(Wire):
    id: str
    provider_id: str = Field(alias="providerID")
    api: ModelApi
    name: str
    family: str | None = None
    capabilities: ModelAbilities
    cost: TieredCost
    limit: Limit
    status: Stage
    options: dict[str, Any]
    headers: dict[str, str]
    release_date: str
    variants: dict[str, dict[str, Any]] | None = None


class ProviderInfo(Wire):
    id: str
    name: str
    source: Literal["env", "config", "custom", "api"]
    env: list[str]
    options: dict[str, Any]
    models: dict[str, ModelInfo]


class Providers(Wire):
    """Those that can answer; `default` has the model of each."""

    providers: list[ProviderInfo]
    default: dict[str, str]


class ProviderList(Wire):
    all: list[ProviderInfo]
    default: dict[str, str]
    connected: list[str]


class AgentInfo(Wire):
    name: str
    description: str | None = None
    mode: Literal["subagent", "primary", "all"]
    native: bool | None = None
    hidden: bool | None = None
    top_p: float | None = Field(None, alias="topP")
    temperature: float | None = None
    color: str | None = None
    permission: list[SessionRule]
    model: ModelRef | None = None
    variant: str | None = None
    prompt: str | None = None
    options: dict[str, Any]
    steps: int | None = None


class CommandInfo(Wire):
    name: str
    description: str | None = None
    agent: str | None = None
    model: str | None = None
    source: Literal["command", "mcp", "skill"] | None = None
    template: str
    subtask: bool | None = None
    hints: list[str]


class SkillInfo(Wire):
    name: str
    description: str | None = None
    location: str
    content: str


class FormatterInfo(Wire):
    name: str
    extensions: list[str]
    enabled: bool


class LanguageServer(Wire):
    id: str
    name: str
    root: str
    status: Literal["connected", "error"]


class ToolInfo(Wire):
    """`parameters` is a JSON schema."""

    id: str
    description: str
    parameters: dict[str, Any]


class McpStatus(Wire):
    """`error` only where it has failed."""

    status: Literal["connected", "disabled", "failed", "needs_auth", "needs_client_registration"]
    error: str | None = None


class _Server(Wire):
    model_config = ConfigDict(extra="forbid")

    enabled: bool | None = None
    timeout: PositiveInt | None = None


class LocalServer(_Server):
    type: Literal["local"]
    command: list[str] = Field(min_length=1)
    cwd: str | None = None
    environment: dict[str, str] | None = None


class ServerOAuth(Wire):
    model_config = ConfigDict(extra="forbid")

    client_id: str | None = Field(None, alias="clientId")
    client_secret: str | None = Field(None, alias="clientSecret")
    scope: str | None = None
    callback_port: Annotated[int, Field(ge=1, le=65535)] | None = Field(None, alias="callbackPort")
    redirect_uri: str | None = Field(None, alias="redirectUri")


class RemoteServer(_Server):
    type: Literal["remote"]
    url: str
    headers: dict[str, str] | None = None
    oauth: ServerOAuth | Literal[False] | None = None


class McpAdd(Wire):
    name: str = Field(min_length=1)
    config: Annotated[LocalServer | RemoteServer, Field(discriminator="type")]


class McpCode(Wire):
    code: str


class McpAuthorization(Wire):
    authorization_url: str = Field(alias="authorizationUrl")
    oauth_state: str = Field(alias="oauthState")


class Success(Wire):
    success: Literal[True]
