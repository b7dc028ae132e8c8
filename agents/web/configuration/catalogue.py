"""The settings that the page has, in its sections: what a person calls each key of `opencode.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, Literal, get_args

from django.utils.translation.trans_null import gettext_noop

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
        gettext_noop("Models"),
        (
            Setting(
                "model",
                gettext_noop("Model"),
                gettext_noop("What a new session begins with, as provider/model."),
                "model",
            ),
            Setting(
                "small_model",
                gettext_noop("Small model"),
                gettext_noop("For titles, summaries and drafts."),
                "model",
            ),
            Setting(
                "fallback",
                gettext_noop("Other models"),
                gettext_noop("A turn goes on with these, in this order, where its own model has failed."),
                "models",
            ),
            Setting(
                "enabled_providers",
                gettext_noop("Only these providers"),
                gettext_noop("None of the others is offered."),
                "lines",
            ),
            Setting("disabled_providers", gettext_noop("Providers left out"), "", "lines"),
            Setting(
                "provider",
                gettext_noop("Providers"),
                gettext_noop("Addresses, headers, models and prices beside those that are known."),
                "json",
                page="accounts",
            ),
        ),
    ),
    Section(
        gettext_noop("Agents"),
        (
            Setting(
                "default_agent",
                gettext_noop("Agent"),
                gettext_noop("What a new session begins with."),
                "agent",
            ),
            Setting(
                "agent",
                gettext_noop("Agents"),
                gettext_noop("Prompt, model, tools, permissions, steps of each."),
                "json",
            ),
            Setting(
                "command", gettext_noop("Commands"), gettext_noop("What /name puts into a prompt."), "json"
            ),
            Setting(
                "subagent_depth",
                gettext_noop("Depth of subagents"),
                gettext_noop("1: only the session that you talk to may send some."),
                "whole",
            ),
            Setting(
                "resume",
                gettext_noop("A turn that was cut off"),
                gettext_noop("Goes on by itself, is offered to be gone on with, or neither."),
                "choice",
                choices=("auto", "ask", "off"),
            ),
            Setting(
                "reviewer.model",
                gettext_noop("Reviewing model"),
                gettext_noop("Reads first what would be asked, in the mode Reviewed."),
                "model",
            ),
            Setting(
                "reviewer.instructions",
                gettext_noop("What it judges by"),
                gettext_noop("In place of what comes with the program."),
            ),
        ),
    ),
    Section(
        gettext_noop("Permissions"),
        (
            Setting(
                "permission",
                gettext_noop("Rules"),
                gettext_noop("Action by permission, and by pattern."),
                "json",
            ),
            Setting(
                "tools",
                gettext_noop("Tools"),
                gettext_noop("Those that are switched on or off, by name or pattern."),
                "json",
            ),
            Setting(
                "browser",
                gettext_noop("Browser"),
                gettext_noop("Agents look at web pages with Chromium. You are asked about each site."),
                "switch",
            ),
            Setting(
                "sandbox",
                gettext_noop("Sandbox"),
                gettext_noop(
                    "What the agent starts is confined to the workspace; offline also has no network."
                ),
                "choice",
                choices=get_args(Sandbox),
            ),
            Setting(
                "sandbox_domains",
                gettext_noop("Hosts"),
                gettext_noop("That a confined program may reach."),
                "json",
            ),
            Setting(
                "sandbox_write",
                gettext_noop("Folders"),
                gettext_noop("That a confined program may write besides."),
                "lines",
            ),
        ),
    ),
    Section(
        gettext_noop("Limits"),
        (
            _limit(
                "subagents",
                gettext_noop("Subagents at work"),
                "",
                gettext_noop("At once, of one conversation."),
            ),
            Setting(
                "limits.calls",
                gettext_noop("Calls in one turn"),
                gettext_noop("By tool, or pattern of tools."),
                "json",
            ),
            _limit("answer_tokens", gettext_noop("One answer"), "tokens"),
            _limit(
                "session_tokens",
                gettext_noop("One conversation"),
                "tokens",
                gettext_noop("With all that its subagents say."),
            ),
            _limit("session_cost", gettext_noop("Cost of a conversation"), "US$"),
            _limit(
                "command_memory",
                gettext_noop("Memory of a command"),
                "MB",
                gettext_noop("With all that it started."),
            ),
            _limit("command_seconds", gettext_noop("Time of a command"), "seconds"),
            _limit("command_cpu_seconds", gettext_noop("Processor time of a command"), "seconds"),
        ),
    ),
    Section(
        gettext_noop("Context"),
        (
            Setting(
                "instructions",
                gettext_noop("Instructions"),
                gettext_noop("Files and addresses that are in every prompt."),
                "lines",
            ),
            Setting(
                "folders",
                gettext_noop("Folders beside the project"),
                gettext_noop("That agents may read, or write."),
                "json",
            ),
            Setting("skills.paths", gettext_noop("Folders with skills"), "", "lines"),
            Setting("skills.urls", gettext_noop("Addresses of skills"), "", "lines"),
            Setting(
                "compaction.auto",
                gettext_noop("Compact by itself"),
                gettext_noop("When the window is nearly full."),
                "switch",
            ),
            Setting(
                "compaction.prune",
                gettext_noop("Prune old outputs"),
                gettext_noop("Of calls that are long ago."),
                "switch",
            ),
            Setting("compaction.reserved", gettext_noop("Kept free for the answer"), "", "whole", "tokens"),
            Setting("compaction.tail_turns", gettext_noop("Turns kept word by word"), "", "whole", "turns"),
            Setting(
                "compaction.preserve_recent_tokens", gettext_noop("Of them at most"), "", "whole", "tokens"
            ),
            Setting(
                "tool_output.max_lines",
                gettext_noop("Lines of a call's output"),
                gettext_noop("Or bytes: whichever is reached first."),
                "whole",
                "lines",
            ),
            Setting("tool_output.max_bytes", gettext_noop("Bytes of a call's output"), "", "whole", "bytes"),
            Setting("watcher.ignore", gettext_noop("Files not watched"), gettext_noop("Patterns."), "lines"),
        ),
    ),
    Section(
        gettext_noop("Files"),
        (
            Setting(
                "snapshot",
                gettext_noop("Keep what undo needs"),
                gettext_noop("Without it nothing can be undone."),
                "switch",
            ),
            Setting("keep_ignored", gettext_noop("Ignored files kept for undo"), "", "whole", "MB"),
            Setting(
                "formatter", gettext_noop("Formatters"), gettext_noop("On, off, or each by its name."), "json"
            ),
            Setting(
                "lsp",
                gettext_noop("Language servers"),
                gettext_noop("On, off, or each by its name."),
                "json",
                page="servers",
            ),
            Setting("mcp", gettext_noop("MCP servers"), "", "json", page="servers"),
            Setting("plugin", gettext_noop("Plugins"), gettext_noop("Packages and files."), "json"),
        ),
    ),
    Section(
        gettext_noop("Program"),
        (
            Setting("share", gettext_noop("Sharing"), "", "choice", choices=("manual", "auto", "disabled")),
            Setting("username", gettext_noop("Your name"), gettext_noop("As conversations show it.")),
            Setting("shell", gettext_noop("Shell"), gettext_noop("Of commands and terminals.")),
            Setting(
                "keybinds",
                gettext_noop("Keys"),
                gettext_noop("As OpenCode has them."),
                "json",
                own=True,
                page="keys",
            ),
            Setting("server.port", gettext_noop("Port"), "", "whole", own=True, restarts=True),
            Setting("server.hostname", gettext_noop("Address to listen at"), "", own=True, restarts=True),
            Setting(
                "server.cors",
                gettext_noop("Origins of other pages"),
                gettext_noop("That may call the API."),
                "lines",
                own=True,
                restarts=True,
            ),
            Setting("experimental", gettext_noop("Experimental"), "", "json"),
        ),
    ),
)
_PARTS: Mapping[str, Sequence[Setting]] = {
    "agent": (
        Setting(
            "description",
            gettext_noop("What it is for"),
            gettext_noop("The main agent sends it by that."),
            "prose",
        ),
        Setting("mode", gettext_noop("Where it works"), "", "choice", choices=("primary", "subagent", "all")),
        Setting("model", gettext_noop("Model"), gettext_noop("As provider/model."), "model"),
        Setting("variant", gettext_noop("Variant of the model")),
        Setting(
            "prompt",
            gettext_noop("Prompt"),
            gettext_noop("In place of the one that comes with the model."),
            "prose",
        ),
        Setting("steps", gettext_noop("Steps of a turn, at most"), "", "whole"),
        Setting("temperature", gettext_noop("Temperature"), "", "number"),
        Setting("top_p", gettext_noop("Top P"), "", "number"),
        Setting(
            "permission",
            gettext_noop("Permissions"),
            gettext_noop("Action by permission, and by pattern."),
            "json",
        ),
        Setting("tools", gettext_noop("Tools"), gettext_noop("On or off, by name or pattern."), "json"),
        Setting(
            "fallback", gettext_noop("Other models"), gettext_noop("Where its own has failed."), "models"
        ),
        Setting("sandbox", gettext_noop("Sandbox"), "", "choice", choices=get_args(Sandbox)),
        Setting(
            "color",
            gettext_noop("Colour"),
            gettext_noop("#rrggbb, or primary, secondary, accent, success, warning, error, info."),
        ),
        Setting("hidden", gettext_noop("Not offered"), "", "switch"),
        Setting("disable", gettext_noop("Switched off"), "", "switch"),
    ),
    "command": (
        Setting(
            "template",
            gettext_noop("What it puts into the prompt"),
            "$ARGUMENTS, $1, !`command`, @file.",
            "prose",
        ),
        Setting("description", gettext_noop("What it is for")),
        Setting("agent", gettext_noop("Agent"), "", "agent"),
        Setting("model", gettext_noop("Model"), gettext_noop("As provider/model."), "model"),
        Setting("variant", gettext_noop("Variant of the model")),
        Setting("subtask", gettext_noop("In a session of its own"), "", "switch"),
    ),
    "provider": (
        Setting("name", gettext_noop("Name")),
        Setting(
            "npm",
            gettext_noop("Protocol"),
            gettext_noop("By the package that OpenCode uses: @ai-sdk/openai-compatible, @ai-sdk/anthropic."),
        ),
        Setting("options.baseURL", gettext_noop("Address")),
        Setting("options.headers", gettext_noop("Headers"), "", "json"),
        Setting("env", gettext_noop("Variables with its key"), "", "lines"),
        Setting(
            "models", gettext_noop("Models"), gettext_noop("Name, limits, prices, options of each."), "json"
        ),
        Setting("whitelist", gettext_noop("Only these models"), "", "lines"),
        Setting("blacklist", gettext_noop("Models left out"), "", "lines"),
        Setting("options.timeout", gettext_noop("Time-out"), "", "limit", "ms"),
    ),
    "model": (
        Setting("name", gettext_noop("Name")),
        Setting(
            "limit", gettext_noop("Windows"), "", "numbers", "tokens", choices=("context", "output", "input")
        ),
        Setting(
            "cost",
            gettext_noop("Prices"),
            "",
            "numbers",
            gettext_noop("US$ per million tokens"),
            choices=("input", "output", "cache_read", "cache_write"),
        ),
        Setting(
            "options",
            gettext_noop("Options"),
            gettext_noop("That go to the provider with each request."),
            "json",
        ),
        Setting("headers", gettext_noop("Headers"), "", "json"),
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
