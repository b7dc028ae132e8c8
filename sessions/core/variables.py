"""The variables of the environment that this program reads, all of them; docs/configuration.md is made of it.

Keys of providers (docs/models.md) and what every program reads (`PATH`, `HOME`, `SHELL`) are not among them.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """`says` is for people, in Markdown; `default` is what holds where it is not set, as it would be written,
    in `unit`. `secret`: its value is shown nowhere. `own`: no program that a server starts is given it."""

    name: str
    says: str
    default: str = ""
    unit: str = ""
    secret: bool = False
    own: bool = False

    def read(self, environ: Mapping[str, str] = os.environ) -> str:
        return environ.get(self.name) or self.default

    def number(self, environ: Mapping[str, str] = os.environ) -> float:
        """In its unit. Raises ValueError, in words, for what is none, or is less than 0."""
        given = self.read(environ)
        try:
            number = float(given)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            raise ValueError(f"{self.name} is no number of {self.unit}: {given!r}")
        return number

    def whole(self, environ: Mapping[str, str] = os.environ) -> int:
        """As OpenCode reads one: a whole number above 0, and of anything else the default."""
        given = self.read(environ)
        return int(given) if given.isascii() and given.isdigit() and int(given) else int(self.default)

    def is_true(self, environ: Mapping[str, str] = os.environ) -> bool:
        """As OpenCode reads it: `1` or `true`."""
        return self.read(environ).lower() in ("1", "true")


PASSWORD = Variable(
    "OPENCODE_SERVER_PASSWORD",
    "Password of the server: for the login, for Basic and for Bearer. Needed where others can reach it;"
    " without it the file `secret` of the data folder has one.",
    secret=True,
    own=True,
)
USERNAME = Variable("OPENCODE_SERVER_USERNAME", "User of HTTP Basic.", "opencode")
ALLOWED_HOSTS = Variable(
    "OPENCODE_WEB_ALLOWED_HOSTS",
    "Names, separated by commas, by which the server is known beside its own address, as a proxy passes them"
    " on in `Host`; with a port where the browser shows one.",
)
TRUSTED_PROXY = Variable(
    "OPENCODE_WEB_TRUSTED_PROXY",
    "Addresses, separated by commas, of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count.",
)
BASE_PATH = Variable(
    "OPENCODE_WEB_BASE_PATH",
    "Path of the host below which everything is, as `/agent`; a proxy in front of it keeps the path.",
    own=True,
)
DIRECTORY = Variable(
    "OPENCODE_WEB_DIRECTORY", "The project that is opened, as the command line names it.", own=True
)
NO_WORKER = Variable(
    "OPENCODE_WEB_NO_WORKER", "Set: turns are left to `opencode-web worker`, as by `--no-worker`.", own=True
)
PRIVATE = Variable(
    "OPENCODE_WEB_PRIVATE",
    "Set for a server that one client starts for itself, and that nobody else talks to: it may stand beside"
    " another one of its data folder.",
    own=True,
)

METRICS = Variable("OPENCODE_WEB_METRICS", "`1`: there is `/metrics`, for a Prometheus.")
METRICS_TOKEN = Variable(
    "OPENCODE_WEB_METRICS_TOKEN",
    "Bearer token that opens `/metrics` and nothing else.",
    secret=True,
    own=True,
)
LOG = Variable("OPENCODE_WEB_LOG", "`json`: a JSON object a line, with the id of the request.", "text")

DATA_HOME = Variable(
    "XDG_DATA_HOME", "Where data folders are; ours is `opencode-web` in it.", "~/.local/share"
)
CONFIG_HOME = Variable(
    "XDG_CONFIG_HOME", "Where configurations are; OpenCode's and ours is `opencode` in it.", "~/.config"
)
RUNTIME_DIR = Variable("XDG_RUNTIME_DIR", "Where the page lies that leads a browser to the launch link.")
DATABASE = Variable(
    "OPENCODE_WEB_DATABASE",
    "Address of a PostgreSQL for the rows ([postgresql.md](postgresql.md)); else a file of SQLite has them.",
    secret=True,
    own=True,
)
REDIS_URL = Variable(
    "REDIS_URL",
    "Redis that joins several processes to one server; the same for all of them.",
    secret=True,
    own=True,
)
STORE_GB = Variable(
    "OPENCODE_WEB_STORE_GB",
    "How much the contents kept for undo, and the copies of the database, may take over all projects.",
    "5",
    "gigabytes",
)
PASSPHRASE = Variable(
    "OPENCODE_WEB_PASSPHRASE",
    "Encrypts the credentials of `backup --credentials`, for `restore` too.",
    secret=True,
)

KEEP_EVENTS = Variable(
    "OPENCODE_WEB_KEEP_EVENTS",
    "So many are kept of the log by which pages and clients catch up; who was away for longer reads anew.",
    "50000",
    "events",
)
KEEP_EVENTS_DAYS = Variable("OPENCODE_WEB_KEEP_EVENTS_DAYS", "And none that is older.", "0", "days")
KEEP_OUTPUTS_DAYS = Variable(
    "OPENCODE_WEB_KEEP_OUTPUTS_DAYS", "Whole outputs of calls, of which the model saw a part.", "7", "days"
)
KEEP_DELETED_DAYS = Variable(
    "OPENCODE_WEB_KEEP_DELETED_DAYS", "Deleted sessions, with what undo needs of them.", "30", "days"
)
KEEP_ARCHIVED_DAYS = Variable(
    "OPENCODE_WEB_KEEP_ARCHIVED_DAYS",
    "Archived sessions that are not pinned; then they are deleted.",
    "0",
    "days",
)
SECRET = Variable(
    "OPENCODE_WEB_SECRET",
    "The secret, in place of the file of the data folder: the same for all nodes and fronts of a team.",
    secret=True,
    own=True,
)
NODE = Variable(
    "OPENCODE_WEB_NODE",
    "Name of this machine in a team ([nodes.md](nodes.md)): small letters, digits and dashes.",
    own=True,
)
NODE_ADDRESS = Variable(
    "OPENCODE_WEB_NODE_ADDRESS",
    "Where fronts reach this node, as `http://10.0.0.7:4096`; else the host's name and its port.",
    own=True,
)
TEAM = Variable(
    "OPENCODE_WEB_TEAM",
    "`1`: people sign in by their own names, and have roles ([people.md](people.md)); the same everywhere.",
    own=True,
)
PERSON_HEADER = Variable(
    "OPENCODE_WEB_PERSON_HEADER",
    "Header, as `X-Remote-User`, in which a proxy of `OPENCODE_WEB_TRUSTED_PROXY` says which person asks; for"
    " people.",
    own=True,
)
TWO_PEOPLE = Variable(
    "OPENCODE_WEB_TWO_PEOPLE",
    "`1`: who sent a prompt may not allow what its turn asks; another person has to.",
    own=True,
)
OIDC_ISSUER = Variable(
    "OPENCODE_WEB_OIDC_ISSUER",
    "Issuer of OpenID Connect at which people may sign in, as `https://login.example.com`"
    " ([people.md](people.md)).",
    own=True,
)
OIDC_CLIENT_ID = Variable("OPENCODE_WEB_OIDC_CLIENT_ID", "What it knows this server by.", own=True)
OIDC_CLIENT_SECRET = Variable(
    "OPENCODE_WEB_OIDC_CLIENT_SECRET", "The secret that goes with it.", secret=True, own=True
)
OIDC_NAME = Variable("OPENCODE_WEB_OIDC_NAME", "What people call it.", "single sign-on", own=True)
OIDC_LINK = Variable(
    "OPENCODE_WEB_OIDC_LINK",
    "`email`: who comes from there with the verified e-mail address of a person here is that person. Without"
    " it people link their account themselves, signed in.",
    own=True,
)
PERSON_TURNS = Variable(
    "OPENCODE_WEB_PERSON_TURNS",
    "How many turns of a person run at once on a machine; their other prompts wait, and say so. 0: no limit."
    " Those of subagents do not count.",
    "0",
    "turns",
)
PERSON_COST = Variable(
    "OPENCODE_WEB_PERSON_COST",
    "What a person's turns on a machine may cost a day; then their prompts are refused. A turn that runs"
    " is finished. 0: no limit.",
    "0",
    "US dollars",
)
PARK = Variable(
    "OPENCODE_WEB_PARK",
    "Where the files of projects are parked after each turn, so that they can be restored on another machine:"
    " `s3://bucket/prefix`, with the usual variables of AWS, or `file:///folder`, which all nodes have.",
    own=True,
)
FRONT = Variable("OPENCODE_WEB_FRONT", "Set by `opencode-web front` for itself.", own=True)

LEASE_SECONDS = Variable(
    "OPENCODE_WEB_LEASE_SECONDS",
    "After its last heartbeat a worker's turn is taken over by another; 6 at a node.",
    "15",
    "seconds",
)
TURNS = Variable(
    "OPENCODE_WEB_TURNS",
    "How many turns a process runs at once; the rest waits, and its sessions say which place they have. 0: no"
    " limit. Those of subagents do not count.",
    "0",
    "turns",
)
HOOK_SECONDS = Variable(
    "OPENCODE_WEB_HOOK_SECONDS",
    "One hook of a plugin may take so long before the turn goes on without it.",
    "5",
    "seconds",
)
TRUST = Variable(
    "OPENCODE_WEB_TRUST",
    "Hashes, separated by commas, of what projects may bring, as `opencode-web trust --show` prints them.",
)
NO_DISCOVERY = Variable(
    "OPENCODE_WEB_NO_DISCOVERY", "Set: the usual ports of this machine are not asked for models."
)
FORGES = Variable(
    "OPENCODE_WEB_FORGES",
    "Forges of one's own, separated by blanks, as `gitlab=https://git.example.org`; a kind is `github`,"
    " `gitlab` or `forgejo` ([forge.md](forge.md)).",
)
PRIVATE_HOSTS = Variable(
    "OPENCODE_WEB_PRIVATE_HOSTS",
    "Set: GitHub Enterprise, the sign-in of an MCP server, and notifiers of a team may be at an address of a"
    " private network.",
)
CHROMIUM = Variable(
    "OPENCODE_WEB_CHROMIUM",
    "Program of Chromium, Chrome or Edge for the agent's [browser](preview.md#the-agents-own-look); without"
    " it the one that is found.",
)
WEBSEARCH_URL = Variable(
    "OPENCODE_WEBSEARCH_URL", "Service of the web search, with `{query}` in its address."
)
WEBSEARCH_KEY = Variable("OPENCODE_WEBSEARCH_KEY", "Its key, sent as Bearer.", secret=True)
CODESEARCH_URL = Variable(
    "OPENCODE_CODESEARCH_URL", "Service of the code search, with `{query}` in its address."
)
CODESEARCH_KEY = Variable("OPENCODE_CODESEARCH_KEY", "Its key, sent as Bearer.", secret=True)

CONFIG = Variable("OPENCODE_CONFIG", "A further `opencode.json`.")
CONFIG_DIR = Variable(
    "OPENCODE_CONFIG_DIR",
    "A further folder like `~/.config/opencode`, which comes after a project's. One that lies in the project"
    " takes trust as the project does.",
)
MANAGED_CONFIG_DIR = Variable(
    "OPENCODE_TEST_MANAGED_CONFIG_DIR",
    "Where an `opencode.json` lies that comes over everybody's own; on macOS"
    " `/Library/Application Support/opencode`.",
    "/etc/opencode",
)
PERMISSION = Variable("OPENCODE_PERMISSION", "`permission` as JSON, which comes over that of every file.")
CONFIG_CONTENT = Variable(
    "OPENCODE_CONFIG_CONTENT", "A configuration as JSON, which comes last.", secret=True, own=True
)
TUI_CONFIG = Variable("OPENCODE_TUI_CONFIG", "A further file with `keybinds`.")
DISABLE_PROJECT_CONFIG = Variable(
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "`1`: what a project brings (configuration, agents, skills) is not read.",
)
DISABLE_AUTOCOMPACT = Variable(
    "OPENCODE_DISABLE_AUTOCOMPACT", "`1`: as `compaction.auto: false`, whatever files say."
)
DISABLE_PRUNE = Variable("OPENCODE_DISABLE_PRUNE", "`1`: as `compaction.prune: false`, whatever files say.")
DISABLE_CLAUDE_CODE = Variable("OPENCODE_DISABLE_CLAUDE_CODE", "`1`: as the next two together.")
DISABLE_CLAUDE_CODE_PROMPT = Variable(
    "OPENCODE_DISABLE_CLAUDE_CODE_PROMPT", "`1`: no `CLAUDE.md` is read, of a project or of your own."
)
DISABLE_CLAUDE_CODE_SKILLS = Variable(
    "OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", "`1`: no skills of `.claude/skills`."
)
DISABLE_EXTERNAL_SKILLS = Variable(
    "OPENCODE_DISABLE_EXTERNAL_SKILLS", "`1`: no skills of `.claude/skills` and `.agents/skills`."
)
PURE = Variable("OPENCODE_PURE", "`1`: no plugin is loaded.")
AUTH_CONTENT = Variable(
    "OPENCODE_AUTH_CONTENT", "What `auth.json` would say, in place of it.", secret=True, own=True
)
OUTPUT_TOKENS = Variable(
    "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX",
    "The longest answer that is asked for, where the model takes as much.",
    "32000",
    "tokens",
)
COMMAND_MILLISECONDS = Variable(
    "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS",
    "How long a command of the agent may run that says nothing of it.",
    "120000",
    "milliseconds",
)
PRINT_LOGS = Variable("OPENCODE_PRINT_LOGS", "`1`: as `--print-logs`.")
LOG_LEVEL = Variable("OPENCODE_LOG_LEVEL", "As `--log-level`.", "INFO")
DISABLE_LSP_DOWNLOAD = Variable("OPENCODE_DISABLE_LSP_DOWNLOAD", "`1`: no language server is installed.")
DISABLE_SHARE = Variable("OPENCODE_DISABLE_SHARE", "`1`: nothing is shared, whatever `share` says.")
AUTO_SHARE = Variable(
    "OPENCODE_AUTO_SHARE", "`1`: every new session is shared, where `share` does not say otherwise."
)
PLAN_MODE = Variable(
    "OPENCODE_EXPERIMENTAL_PLAN_MODE", "`0`: plan mode is a reminder to change nothing, without a file."
)
OPENCODE_DB = Variable("OPENCODE_DB", "Another database of OpenCode's, for `import`.")

BASE_URL = Variable(
    "OPENCODE_BASE_URL", "The server that `mcp`, `acp` and `run` talk to, in place of the one that runs here."
)
COMMAND = Variable("OPENCODE_COMMAND", "What starts a server where none answers, in place of our own.")
AUTO_SERVE = Variable("OPENCODE_AUTO_SERVE", "`0`: none is started.")
DEFAULT_PROVIDER = Variable("OPENCODE_DEFAULT_PROVIDER", "With the next one: the model of `mcp`'s turns.")
DEFAULT_MODEL = Variable("OPENCODE_DEFAULT_MODEL", "See above.")

GITHUB_URL = Variable(
    "OPENCODE_WEB_GITHUB_URL", "Where a device code is entered and exchanged.", "https://github.com"
)
GITHUB_API_URL = Variable(
    "OPENCODE_WEB_GITHUB_API_URL", "Where GitHub's token becomes Copilot's.", "https://api.github.com"
)
COPILOT_URL = Variable("OPENCODE_WEB_COPILOT_URL", "Copilot's models.", "https://api.githubcopilot.com")
GITHUB_ENTERPRISE_URL = Variable(
    "OPENCODE_WEB_GITHUB_ENTERPRISE_URL",
    "The same three of GitHub Enterprise; `{domain}` stands for the domain that was given.",
    "https://{domain}",
)
GITHUB_ENTERPRISE_API_URL = Variable(
    "OPENCODE_WEB_GITHUB_ENTERPRISE_API_URL", "See above.", "https://api.{domain}"
)
COPILOT_ENTERPRISE_URL = Variable(
    "OPENCODE_WEB_COPILOT_ENTERPRISE_URL", "See above.", "https://copilot-api.{domain}"
)
GITHUB_CLIENT_ID = Variable(
    "OPENCODE_WEB_GITHUB_CLIENT_ID", "The application that asks GitHub.", "Ov23li8tweQw6odWQebz"
)
OPENAI_AUTH_URL = Variable("OPENCODE_WEB_OPENAI_AUTH_URL", "OpenAI's accounts.", "https://auth.openai.com")
CHATGPT_URL = Variable(
    "OPENCODE_WEB_CHATGPT_URL", "ChatGPT's models.", "https://chatgpt.com/backend-api/codex"
)
CHATGPT_CLIENT_ID = Variable(
    "OPENCODE_WEB_CHATGPT_CLIENT_ID", "The application that asks OpenAI.", "app_EMoamEEZ73f0CkXaXp7hrann"
)
CHATGPT_PORT = Variable(
    "OPENCODE_WEB_CHATGPT_PORT", "Where the browser is sent back to; OpenAI knows this one.", "1455"
)

CALL = Variable("OPENCODE_WEB_CALL", "Marks the programs of a call, so that none of them outlives it.")
AGENT = Variable("OPENCODE_WEB_AGENT", "Marks the agent's commands, which the server refuses.")
TERMINAL = Variable("OPENCODE_TERMINAL", "`1` in the terminals of the page.")

GROUPS = {
    "The server and its network": (
        *(PASSWORD, USERNAME, ALLOWED_HOSTS, TRUSTED_PROXY, BASE_PATH, DIRECTORY, NO_WORKER, PRIVATE),
        *(METRICS, METRICS_TOKEN, LOG),
    ),
    "Its data": (DATA_HOME, CONFIG_HOME, RUNTIME_DIR, DATABASE, REDIS_URL, STORE_GB, PASSPHRASE),
    "How long things are kept (0: for ever)": (
        *(KEEP_EVENTS, KEEP_EVENTS_DAYS, KEEP_OUTPUTS_DAYS, KEEP_DELETED_DAYS, KEEP_ARCHIVED_DAYS),
    ),
    "People": (
        *(TEAM, PERSON_HEADER, TWO_PEOPLE, PERSON_TURNS, PERSON_COST),
        *(OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_NAME, OIDC_LINK),
    ),
    "Nodes and fronts": (SECRET, NODE, NODE_ADDRESS, PARK, FRONT),
    "Turns": (
        *(LEASE_SECONDS, TURNS, HOOK_SECONDS, TRUST, NO_DISCOVERY, PRIVATE_HOSTS, FORGES),
        *(WEBSEARCH_URL, WEBSEARCH_KEY, CODESEARCH_URL, CODESEARCH_KEY, CHROMIUM),
    ),
    "OpenCode's own": (
        *(CONFIG, CONFIG_DIR, CONFIG_CONTENT, MANAGED_CONFIG_DIR, PERMISSION, TUI_CONFIG, AUTH_CONTENT),
        *(DISABLE_PROJECT_CONFIG, DISABLE_AUTOCOMPACT, DISABLE_PRUNE, PURE, DISABLE_LSP_DOWNLOAD),
        *(DISABLE_CLAUDE_CODE, DISABLE_CLAUDE_CODE_PROMPT, DISABLE_CLAUDE_CODE_SKILLS),
        *(DISABLE_EXTERNAL_SKILLS, DISABLE_SHARE, AUTO_SHARE, PLAN_MODE, OUTPUT_TOKENS),
        *(COMMAND_MILLISECONDS, PRINT_LOGS, LOG_LEVEL, OPENCODE_DB),
    ),
    "Clients of a server": (BASE_URL, COMMAND, AUTO_SERVE, DEFAULT_PROVIDER, DEFAULT_MODEL),
    "Addresses of sign-ins, for a mirror": (
        *(GITHUB_URL, GITHUB_API_URL, COPILOT_URL, GITHUB_ENTERPRISE_URL, GITHUB_ENTERPRISE_API_URL),
        *(
            COPILOT_ENTERPRISE_URL,
            GITHUB_CLIENT_ID,
            OPENAI_AUTH_URL,
            CHATGPT_URL,
            CHATGPT_CLIENT_ID,
            CHATGPT_PORT,
        ),
    ),
    "Set for the programs that it starts": (CALL, AGENT, TERMINAL),
}
"""By what they are about, as the page has them."""

NOT_READ = {
    "models, their limits and prices are those of litellm": (
        *("OPENCODE_MODELS_URL", "OPENCODE_MODELS_PATH", "OPENCODE_DISABLE_MODELS_FETCH"),
        "OPENCODE_ENABLE_EXPERIMENTAL_MODELS",
    ),
    "OpenCode's own gateway and console are no providers": ("OPENCODE_API_KEY", "OPENCODE_CONSOLE_TOKEN"),
    "the web is searched by what `OPENCODE_WEBSEARCH_URL` names": (
        *("OPENCODE_WEBSEARCH_PROVIDER", "OPENCODE_ENABLE_EXA", "OPENCODE_EXPERIMENTAL_EXA"),
        *("OPENCODE_ENABLE_PARALLEL", "OPENCODE_EXPERIMENTAL_PARALLEL"),
    ),
    "nothing updates itself": ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_ALWAYS_NOTIFY_UPDATE"),
    "the plugins that OpenCode comes with are not here": (
        *("OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_GITLAB_AUTH_CLIENT_ID"),
    ),
    "`references` are not cloned": (
        *("OPENCODE_EXPERIMENTAL_REFERENCES", "OPENCODE_REPO_CLONE_GITHUB_BASE_URL"),
    ),
    "it is about OpenCode's terminal, or about Windows": (
        *(
            "OPENCODE_DISABLE_MOUSE",
            "OPENCODE_DISABLE_TERMINAL_TITLE",
            "OPENCODE_SHOW_TTFD",
            "OPENCODE_ROUTE",
        ),
        *("OPENCODE_EXPERIMENTAL_DISABLE_COPY_ON_SELECT", "OPENCODE_PLUGIN_META_FILE", "OPENCODE_FAST_BOOT"),
        *("OPENCODE_EDITOR_SSE_PORT", "OPENCODE_ZED_DB", "OPENCODE_DIRECT_TRACE", "OPENCODE_GIT_BASH_PATH"),
    ),
    "it switches a part of OpenCode that is not here, or is always on": (
        *("OPENCODE_EXPERIMENTAL", "OPENCODE_EXPERIMENTAL_LSP_TOOL", "OPENCODE_EXPERIMENTAL_LSP_TY"),
        *("OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS", "OPENCODE_EXPERIMENTAL_CODE_MODE"),
        *("OPENCODE_EXPERIMENTAL_EVENT_SYSTEM", "OPENCODE_EXPERIMENTAL_ICON_DISCOVERY"),
        *("OPENCODE_EXPERIMENTAL_NATIVE_LLM", "OPENCODE_EXPERIMENTAL_WEBSOCKETS", "OPENCODE_DISABLE_FFF"),
        *("OPENCODE_EXPERIMENTAL_OXFMT", "OPENCODE_EXPERIMENTAL_WORKSPACES", "OPENCODE_ENABLE_QUESTION_TOOL"),
        *("OPENCODE_EXPERIMENTAL_FILEWATCHER", "OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER"),
        *("OPENCODE_DISABLE_EMBEDDED_WEB_UI", "OPENCODE_AUTO_HEAP_SNAPSHOT", "OPENCODE_ACP_PROFILE"),
    ),
    "it is what OpenCode's own programs say to one another": (
        *("OPENCODE_CLIENT", "OPENCODE_PID", "OPENCODE_WORKSPACE_ID", "OPENCODE_DISABLE_CHANNEL_DB"),
        *("OPENCODE_FAKE_VCS", "OPENCODE_TEST_HOME"),
    ),
}
"""Those that OpenCode reads and this program does not, by the reason."""


def every() -> Iterator[Variable]:
    for group in GROUPS.values():
        yield from group
