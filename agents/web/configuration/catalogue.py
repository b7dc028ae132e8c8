"""The settings that the page has, in its sections: what a person calls each key of `opencode.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

from agents.config import limits
from agents.config.schema import Config, Sandbox

Kind = Literal[
    "switch",
    "choice",
    "whole",
    "number",
    "limit",
    "text",
    "prose",
    "model",
    "models",
    "agent",
    "lines",
    "numbers",
    "json",
]
"""`whole` and `number` count, a `limit` may also be switched off. `prose` has several lines. `model`,
`models` and `agent` are names that are there or may come, `lines` a list of texts, `numbers` an object of
those that are its choices, the first two of which belong together, `json` whatever the key may have."""


@dataclass(frozen=True, slots=True)
class Setting:
    """`key` has its steps with dots between; of a part of an entry its kind, name and part with slashes.
    `unit` is of a number, `choices` are of a choice. `own`: it counts in a person's own files alone.
    `restarts`: it is in force with the next start. `page`: the name of a page that has more of it."""

    key: str
    title: str
    words: str = ""
    kind: Kind = "text"
    unit: str = ""
    choices: Sequence[str] = ()
    own: bool = False
    restarts: bool = False
    page: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        if "/" not in self.key:
            return tuple(self.key.split("."))
        kind, _, rest = self.key.partition("/")
        name, _, part = rest.rpartition("/")
        parts = part.split(".") if part else ()
        if kind == "model":
            provider, _, model = name.partition("/")
            return ("provider", provider, "models", model, *parts)
        return (kind, name, *parts)

    @property
    def id(self) -> str:
        """For its elements."""
        return f"setting-{re.sub(r'[^A-Za-z0-9]', _numbered, self.key)}"

    @property
    def is_number(self) -> bool:
        return self.kind in ("whole", "number", "limit")

    @property
    def is_apart(self) -> bool:
        """Whether what files say of it is joined, so that each of them has its own part."""
        return self.kind in ("lines", "models", "json")


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    settings: Sequence[Setting]

    @property
    def id(self) -> str:
        return f"settings-{self.title.lower().replace(' ', '-')}"


def _limit(name: str, title: str, unit: str, words: str = "") -> Setting:
    return Setting(f"limits.{name}", title, words, "limit", unit)


SECTIONS = (
    Section(
        "Models",
        (
            Setting("model", "Model", "What a new session begins with, as provider/model.", "model"),
            Setting("small_model", "Small model", "For titles, summaries and drafts.", "model"),
            Setting(
                "fallback",
                "Other models",
                "A turn goes on with these, in this order, where its own model has failed.",
                "models",
            ),
            Setting("enabled_providers", "Only these providers", "None of the others is offered.", "lines"),
            Setting("disabled_providers", "Providers left out", "", "lines"),
            Setting(
                "provider",
                "Providers",
                "Addresses, headers, models and prices beside those that are known.",
                "json",
                page="accounts",
            ),
        ),
    ),
    Section(
        "Agents",
        (
            Setting("default_agent", "Agent", "What a new session begins with.", "agent"),
            Setting("agent", "Agents", "Prompt, model, tools, permissions, steps of each.", "json"),
            Setting("command", "Commands", "What /name puts into a prompt.", "json"),
            Setting(
                "subagent_depth",
                "Depth of subagents",
                "1: only the session that you talk to may send some.",
                "whole",
            ),
            Setting(
                "resume",
                "A turn that was cut off",
                "Goes on by itself, is offered to be gone on with, or neither.",
                "choice",
                choices=("auto", "ask", "off"),
            ),
            Setting(
                "reviewer.model",
                "Reviewing model",
                "Reads first what would be asked, in the mode Reviewed.",
                "model",
            ),
            Setting("reviewer.instructions", "What it judges by", "In place of what comes with the program."),
        ),
    ),
    Section(
        "Permissions",
        (
            Setting("permission", "Rules", "Action by permission, and by pattern.", "json"),
            Setting("tools", "Tools", "Those that are switched on or off, by name or pattern.", "json"),
            Setting(
                "sandbox",
                "Sandbox",
                "What the agent starts is confined to the workspace; offline also has no network.",
                "choice",
                choices=get_args(Sandbox),
            ),
            Setting("sandbox_domains", "Hosts", "That a confined program may reach.", "json"),
            Setting("sandbox_write", "Folders", "That a confined program may write besides.", "lines"),
        ),
    ),
    Section(
        "Limits",
        (
            _limit("subagents", "Subagents at work", "", "At once, of one conversation."),
            Setting("limits.calls", "Calls in one turn", "By tool, or pattern of tools.", "json"),
            _limit("answer_tokens", "One answer", "tokens"),
            _limit("session_tokens", "One conversation", "tokens", "With all that its subagents say."),
            _limit("session_cost", "Cost of a conversation", "US$"),
            _limit("command_memory", "Memory of a command", "MB", "With all that it started."),
            _limit("command_seconds", "Time of a command", "seconds"),
            _limit("command_cpu_seconds", "Processor time of a command", "seconds"),
        ),
    ),
    Section(
        "Context",
        (
            Setting("instructions", "Instructions", "Files and addresses that are in every prompt.", "lines"),
            Setting("folders", "Folders beside the project", "That agents may read, or write.", "json"),
            Setting("skills.paths", "Folders with skills", "", "lines"),
            Setting("skills.urls", "Addresses of skills", "", "lines"),
            Setting("compaction.auto", "Compact by itself", "When the window is nearly full.", "switch"),
            Setting("compaction.prune", "Prune old outputs", "Of calls that are long ago.", "switch"),
            Setting("compaction.reserved", "Kept free for the answer", "", "whole", "tokens"),
            Setting("compaction.tail_turns", "Turns kept word by word", "", "whole", "turns"),
            Setting("compaction.preserve_recent_tokens", "Of them at most", "", "whole", "tokens"),
            Setting(
                "tool_output.max_lines",
                "Lines of a call's output",
                "Or bytes: whichever is reached first.",
                "whole",
                "lines",
            ),
            Setting("tool_output.max_bytes", "Bytes of a call's output", "", "whole", "bytes"),
            Setting("watcher.ignore", "Files not watched", "Patterns.", "lines"),
        ),
    ),
    Section(
        "Files",
        (
            Setting("snapshot", "Keep what undo needs", "Without it nothing can be undone.", "switch"),
            Setting("keep_ignored", "Ignored files kept for undo", "", "whole", "MB"),
            Setting("formatter", "Formatters", "On, off, or each by its name.", "json"),
            Setting("lsp", "Language servers", "On, off, or each by its name.", "json", page="servers"),
            Setting("mcp", "MCP servers", "", "json", page="servers"),
            Setting("plugin", "Plugins", "Packages and files.", "json"),
        ),
    ),
    Section(
        "Program",
        (
            Setting("share", "Sharing", "", "choice", choices=("manual", "auto", "disabled")),
            Setting("username", "Your name", "As conversations show it."),
            Setting("shell", "Shell", "Of commands and terminals."),
            Setting("keybinds", "Keys", "As OpenCode has them.", "json", own=True, page="keys"),
            Setting("server.port", "Port", "", "whole", own=True, restarts=True),
            Setting("server.hostname", "Address to listen at", "", own=True, restarts=True),
            Setting(
                "server.cors",
                "Origins of other pages",
                "That may call the API.",
                "lines",
                own=True,
                restarts=True,
            ),
            Setting("experimental", "Experimental", "", "json"),
        ),
    ),
)
_PARTS: Mapping[str, Sequence[Setting]] = {
    "agent": (
        Setting("description", "What it is for", "The main agent sends it by that.", "prose"),
        Setting("mode", "Where it works", "", "choice", choices=("primary", "subagent", "all")),
        Setting("model", "Model", "As provider/model.", "model"),
        Setting("variant", "Variant of the model"),
        Setting("prompt", "Prompt", "In place of the one that comes with the model.", "prose"),
        Setting("steps", "Steps of a turn, at most", "", "whole"),
        Setting("temperature", "Temperature", "", "number"),
        Setting("top_p", "Top P", "", "number"),
        Setting("permission", "Permissions", "Action by permission, and by pattern.", "json"),
        Setting("tools", "Tools", "On or off, by name or pattern.", "json"),
        Setting("fallback", "Other models", "Where its own has failed.", "models"),
        Setting("sandbox", "Sandbox", "", "choice", choices=get_args(Sandbox)),
        Setting("color", "Colour", "#rrggbb, or primary, secondary, accent, success, warning, error, info."),
        Setting("hidden", "Not offered", "", "switch"),
        Setting("disable", "Switched off", "", "switch"),
    ),
    "command": (
        Setting("template", "What it puts into the prompt", "$ARGUMENTS, $1, !`command`, @file.", "prose"),
        Setting("description", "What it is for"),
        Setting("agent", "Agent", "", "agent"),
        Setting("model", "Model", "As provider/model.", "model"),
        Setting("variant", "Variant of the model"),
        Setting("subtask", "In a session of its own", "", "switch"),
    ),
    "provider": (
        Setting("name", "Name"),
        Setting(
            "npm",
            "Protocol",
            "By the package that OpenCode uses: @ai-sdk/openai-compatible, @ai-sdk/anthropic.",
        ),
        Setting("options.baseURL", "Address"),
        Setting("options.headers", "Headers", "", "json"),
        Setting("env", "Variables with its key", "", "lines"),
        Setting("models", "Models", "Name, limits, prices, options of each.", "json"),
        Setting("whitelist", "Only these models", "", "lines"),
        Setting("blacklist", "Models left out", "", "lines"),
        Setting("options.timeout", "Time-out", "", "limit", "ms"),
    ),
    "model": (
        Setting("name", "Name"),
        Setting("limit", "Windows", "", "numbers", "tokens", choices=("context", "output", "input")),
        Setting(
            "cost",
            "Prices",
            "",
            "numbers",
            "US$ per million tokens",
            choices=("input", "output", "cache_read", "cache_write"),
        ),
        Setting("options", "Options", "That go to the provider with each request.", "json"),
        Setting("headers", "Headers", "", "json"),
    ),
}
"""Of the entries of these keys, each named by the person; a model as provider/model."""
MOST_NAME = 200
"""Characters of the name of an entry."""


@cache
def by_key() -> Mapping[str, Setting]:
    return {setting.key: setting for section in SECTIONS for setting in section.settings}


def parts_of(kind: str, name: str) -> list[Setting]:
    """The settings of one agent, command, provider or model. Raises KeyError for another kind."""
    return [replace(part, key=f"{kind}/{name}/{part.key}") for part in _PARTS[kind]]


def setting(key: str) -> Setting | None:
    """Of all settings, those of entries too; of a whole entry (`agent/name/`) as well."""
    if "/" not in key:
        return by_key().get(key)
    kind, _, rest = key.partition("/")
    name, _, part = rest.rpartition("/")
    if kind not in _PARTS or not name or len(name) > MOST_NAME:
        return None
    if kind == "model" and not all(name.partition("/")):
        return None
    if not part:
        return Setting(key, name, kind="json")
    return next((one for one in parts_of(kind, name) if one.key == key), None)


def _numbered(found: re.Match[str]) -> str:
    return "-" if found[0] in "._/" else f"-{ord(found[0]):x}-"


@cache
def _defaults() -> Mapping[str, Any]:
    values = Config().model_dump(by_alias=True)
    return {**values, "limits": asdict(limits.defaults())}


def default_of(setting: Setting) -> Any:
    """What holds where no file says anything; None where that is nothing, or no limit."""
    return at(_defaults(), setting.path)


def at(values: Any, path: Sequence[str]) -> Any:
    """What values have at a place; None where they have nothing."""
    for step in path:
        if not isinstance(values, Mapping):
            return None
        values = values.get(step)
    return values
