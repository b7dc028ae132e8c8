"""The schema of `opencode.json`, as far as this program acts on it.

Source: OpenCode's OpenAPI document (`Config` and the schemas it names). Keys that are not
named here are kept and ignored. How the files are found and merged is not known here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, with_config
from typing_extensions import TypedDict

Action = Literal["ask", "allow", "deny", "person"]
"""`person` is ours: asked about like `ask`, and of a person whatever the session's mode."""
Rules = Action | dict[str, Action]
Permission = Action | dict[str, Rules]
"""One action for everything, or an action (or actions by pattern) for each permission."""

Milliseconds = PositiveInt | Literal[False]
"""`False` switches the limit off."""


def _off(value: object) -> object:
    if value is not False:
        raise ValueError("false switches it off")
    return value


Off = Annotated[Literal[False], BeforeValidator(_off)]
"""No limit; 0 is none, and is no number either that anything could be held to."""
Most = Annotated[int, Field(gt=0, strict=True)] | Off
"""A limit, or none."""

Sandbox = Literal["off", "project", "offline", "auto"]
"""Whether what the agent starts is confined to the workspace, without a network."""

OPEN = ConfigDict(extra="allow")


class _Section(BaseModel):
    """Immutable, because the loaded configuration is shared; with the keys' names as in the file."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True)


Color = Annotated[
    str, Field(pattern="^(#[0-9a-fA-F]{6}|primary|secondary|accent|success|warning|error|info)$")
]
"""A colour as `#rrggbb` or one of the theme's by name."""


class ReviewerConfig(_Section):
    """Who reads first what would be asked, in the mode *Reviewed* (docs/decisions/0038-reviewed.md). Ours."""

    model: str
    """As `provider/model`."""
    instructions: str = ""
    """By what it judges, in place of what comes with the program."""


class FolderConfig(_Section):
    """One entry of `folders`. Ours."""

    path: str
    write: bool = False


class AgentConfig(_Section):
    """One entry of `agent`. Keys beyond these are options for the model, as in OpenCode."""

    mode: Literal["subagent", "primary", "all"] | None = None
    model: str | None = None
    fallback: list[str] | None = None
    """Models as `provider/model` that a turn goes on with where its own has failed, in this order. Ours."""
    variant: str | None = None
    prompt: str | None = None
    description: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    steps: PositiveInt | None = None
    max_steps: PositiveInt | None = Field(None, alias="maxSteps")
    """The older name of `steps`."""
    permission: Permission | None = None
    restrictions: Permission | None = Field(None, exclude=True)
    """Rules of a repository that is not trusted: they make others stricter and never looser."""
    tools: dict[str, bool] = {}
    sandbox: Sandbox | None = None
    """As for all agents. Ours."""
    options: dict[str, Any] = {}
    disable: bool = False
    color: Color | None = None
    hidden: bool | None = None

    @property
    def model_options(self) -> dict[str, Any]:
        """What goes to the provider: `options` and the keys that are no setting of an agent."""
        extra = {key: value for key, value in (self.model_extra or {}).items() if key != "name"}
        return {**extra, **self.options}


class CommandConfig(_Section):
    template: str
    description: str | None = None
    agent: str | None = None
    model: str | None = None
    variant: str | None = None
    subtask: bool = False


@with_config(OPEN)
class ProviderOptions(TypedDict, total=False):
    apiKey: str
    baseURL: str
    headers: dict[str, str]
    timeout: Milliseconds
    headerTimeout: Milliseconds
    chunkTimeout: Milliseconds


@with_config(OPEN)
class ModelPrice(TypedDict, total=False):
    """US dollars per million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float


@with_config(OPEN)
class ModelCost(ModelPrice, total=False):
    """`context_over_200k` is the price of a request with more than 200,000 tokens in it."""

    context_over_200k: ModelPrice


@with_config(OPEN)
class ModelLimit(TypedDict, total=False):
    """Tokens."""

    context: int
    input: int
    output: int


@with_config(OPEN)
class ModelProvider(TypedDict, total=False):
    npm: str
    api: str
    """An address."""


@with_config(OPEN)
class Interleaved(TypedDict, total=False):
    field: Literal["reasoning", "reasoning_content", "reasoning_details"]


@with_config(OPEN)
class ModelConfig(TypedDict, total=False):
    id: str
    name: str
    attachment: bool
    reasoning: bool
    temperature: bool
    tool_call: bool
    cost: ModelCost
    limit: ModelLimit
    provider: ModelProvider
    """How this one is reached, where that differs from its provider's others."""
    interleaved: bool | Interleaved
    """Where it takes back what it thought."""
    options: dict[str, Any]
    headers: dict[str, str]
    variants: dict[str, dict[str, Any]]


@with_config(OPEN)
class ProviderConfig(TypedDict, total=False):
    """A plain dictionary in OpenCode's own key names; `npm` selects the protocol."""

    id: str
    name: str
    npm: str
    api: str
    env: list[str]
    whitelist: list[str]
    blacklist: list[str]
    options: ProviderOptions
    models: dict[str, ModelConfig]


@with_config(OPEN)
class McpConfig(TypedDict, total=False):
    """A server that is started (`local`: command) or called (`remote`: url)."""

    type: Literal["local", "remote"]
    enabled: bool
    command: list[str]
    cwd: str
    environment: dict[str, str]
    sandbox: bool
    """Whether a local one is confined: it reads the project and reaches nothing. Ours."""
    url: str
    headers: dict[str, str]
    oauth: dict[str, Any] | Literal[False]
    timeout: PositiveInt
    apps: bool
    """Whether apps of its tools are shown. Ours."""


@with_config(OPEN)
class LspConfig(TypedDict, total=False):
    disabled: bool
    command: list[str]
    extensions: list[str]
    env: dict[str, str]
    sandbox: bool
    """As for an MCP server. Ours."""
    initialization: dict[str, Any]


@with_config(OPEN)
class FormatterConfig(TypedDict, total=False):
    disabled: bool
    command: list[str]
    extensions: list[str]
    environment: dict[str, str]


class ServerConfig(_Section):
    """Read from the user's own files only, never from a project's."""

    port: Annotated[int, Field(ge=0, le=65535)] | None = None
    hostname: str | None = None
    cors: list[str] = []


class CompactionConfig(_Section):
    auto: bool = True
    prune: bool = True
    reserved: Annotated[int, Field(ge=0)] | None = None
    """Tokens of the window kept free for the answer."""
    tail_turns: Annotated[int, Field(ge=0)] | None = None
    preserve_recent_tokens: Annotated[int, Field(ge=0)] | None = None


class ToolOutputConfig(_Section):
    """How much of a tool call's output the model is sent, whichever is reached first."""

    max_lines: PositiveInt = 2000
    max_bytes: PositiveInt = 50 * 1024


class LimitsConfig(_Section):
    """What stops an agent that runs away, or has a person asked (docs/limits.md). Ours.

    What is not named is as `agents.config.limits` has it.
    """

    subagents: Most | None = None
    """At work at once, of one conversation."""
    calls: dict[str, Most] = {}
    """Calls in one turn, together, of the tools that a pattern matches."""
    answer_tokens: Most | None = None
    """Output tokens of one answer."""
    session_tokens: Most | None = None
    """Output tokens of one conversation, with all that its subagents say."""
    session_cost: Annotated[float, Field(gt=0, strict=True)] | Off | None = None
    """US dollars that it costs, likewise."""
    command_memory: Most | None = None
    """Megabytes that a command holds, with all that it started."""
    command_seconds: Most | None = None
    """How long a command may run; a call may ask for less."""
    command_cpu_seconds: Most | None = None
    """Of processor time, over all processors."""


class WatcherConfig(_Section):
    ignore: list[str] = []


class SkillsConfig(_Section):
    paths: list[str] = []
    """Folders to look for skills in, besides the usual ones."""
    urls: list[str] = []
    """Addresses below which an `index.json` names skills."""


class Config(_Section):
    """The merged configuration. Every field has a default: an empty file is a valid one."""

    json_schema: str | None = Field(None, alias="$schema")
    model: str | None = None
    small_model: str | None = None
    fallback: list[str] = []
    """As for an agent, whose own list takes its place. Ours."""
    default_agent: str | None = None
    subagent_depth: Annotated[int, Field(ge=0)] = 1
    """How many sessions deep subagents may send subagents; 1: only the session a person talks to may."""
    username: str | None = None
    theme: str | None = None
    shell: str | None = None
    keybinds: dict[str, Any] = {}
    """Read from the user's own files only (`agents.config.keybinds`)."""
    provider: dict[str, ProviderConfig] = {}
    disabled_providers: list[str] = []
    enabled_providers: list[str] | None = None
    agent: dict[str, AgentConfig] = {}
    permission: Permission | None = None
    restrictions: Permission | None = Field(None, exclude=True)
    """As for an agent."""
    tools: dict[str, bool] = {}
    limits: LimitsConfig = LimitsConfig()
    ceilings: LimitsConfig = Field(LimitsConfig(), exclude=True)
    """Limits of a repository that is not trusted: they lower others and never raise them."""
    reviewer: ReviewerConfig | None = None
    sandbox: Sandbox | None = None
    """How commands and formatters are confined (docs/sandbox.md). Ours."""
    sandbox_domains: dict[str, Literal["allow", "ask", "deny"]] = {}
    """Hosts that a confined program may reach, as rules of the permission `network`. Ours."""
    browser: bool = False
    """Whether agents have a browser to look at web pages with (docs/preview.md). Ours."""
    sandbox_write: list[str] = []
    """Folders besides the workspace that a confined program may write; `~` is the home folder. Ours."""
    folders: list[str | FolderConfig] = []
    """Folders beside the project that agents may read, from the folder of the session; `~` is the home
    folder. With `write` they may also write there. Ours."""
    instructions: list[str] = []
    command: dict[str, CommandConfig] = {}
    mcp: dict[str, McpConfig] = {}
    lsp: bool | dict[str, LspConfig] = False
    formatter: bool | dict[str, FormatterConfig] = False
    snapshot: bool = True
    keep_ignored: Annotated[int, Field(ge=0)] = 20
    """Megabytes of files that git ignores which are kept for undo as well, the smallest first and without
    what a program makes again, in each project that has no choice of its own (settings page)."""
    share: Literal["manual", "auto", "disabled"] | None = None
    autoshare: bool = False
    """The older way to say `"share": "auto"`, which counts where `share` says nothing."""
    resume: Literal["auto", "ask", "off"] = "ask"
    """Whether a turn that was cut off goes on by itself, is offered to be gone on with, or neither. Ours."""
    server: ServerConfig = ServerConfig()
    compaction: CompactionConfig = CompactionConfig()
    tool_output: ToolOutputConfig = ToolOutputConfig()
    watcher: WatcherConfig = WatcherConfig()
    skills: SkillsConfig = SkillsConfig()
    experimental: dict[str, Any] = {}
    plugin: list[Any] = []
