"""What belongs to no other group, and a terminal client that is attached to the server."""

from __future__ import annotations

from typing import Any, Literal

from opencode_web.bridge.formatting.catalogues import agents, commands, names, skills
from opencode_web.bridge.formatting.plain import bullets, done, named, statuses
from opencode_web.bridge.operations.arguments import SessionID, body, path, query
from opencode_web.bridge.tool import ACTS, ADDS, ENDS, REACHES, READS, SETS, Argument, Hints, Operation

_SERVER = path("name", "The MCP server's name in the configuration.")

_LOOKS = (
    Operation("path_get", "GET", "/path", "Show the folders the server works with.", READS),
    Operation("agent_list", "GET", "/agent", "List the agents.", READS, format=agents),
    Operation("command_list", "GET", "/command", "List the slash commands.", READS, format=commands),
    Operation("skill_list", "GET", "/skill", "List the skills.", READS, format=skills),
    Operation(
        "lsp_status",
        "GET",
        "/lsp",
        "List the language servers and their states.",
        READS,
        format=bullets(named("name", "id", "root", "status"), "No language server runs."),
    ),
    Operation(
        "formatter_status",
        "GET",
        "/formatter",
        "List the formatters.",
        READS,
        format=bullets(named("name", "extensions", "enabled"), "No formatters."),
    ),
    Operation(
        "tool_ids",
        "GET",
        "/experimental/tool/ids",
        "List the names of all tools of agents.",
        READS,
        format=names,
    ),
    Operation(
        "tool_list",
        "GET",
        "/experimental/tool",
        "List the tools that a model is given.",
        READS,
        (query("provider", "The provider.", required=True), query("model", "The model.", required=True)),
        bullets(named("id", "description")),
    ),
)

_MCP = (
    Operation(
        "mcp_status",
        "GET",
        "/mcp",
        "List the MCP servers of the agent and their states.",
        READS,
        format=statuses,
    ),
    Operation(
        "mcp_add",
        "POST",
        "/mcp",
        "Give the agent an MCP server, until the server ends.",
        ACTS,
        (
            body("name", "A name for it.", required=True),
            body(
                "config",
                "`type` local with `command`, a list; or remote with `url`.",
                dict[str, Any],
                required=True,
                secret=True,
            ),
        ),
        statuses,
    ),
    Operation(
        "mcp_connect",
        "POST",
        "/mcp/{name}/connect",
        "Connect an MCP server of the agent.",
        REACHES,
        (_SERVER,),
        done("Asked to connect; opencode_mcp_status tells the outcome."),
    ),
    Operation(
        "mcp_disconnect",
        "POST",
        "/mcp/{name}/disconnect",
        "Disconnect an MCP server of the agent.",
        SETS,
        (_SERVER,),
        done("Disconnected."),
    ),
)

_SELF = (
    Operation(
        "log",
        "POST",
        "/log",
        "Write a line into the server's log.",
        ADDS,
        (
            body("service", "Who writes.", required=True),
            body("level", "How much it matters.", Literal["debug", "info", "error", "warn"], required=True),
            body("message", "The line.", required=True),
        ),
        done("Logged."),
    ),
    Operation(
        "instance_dispose",
        "POST",
        "/instance/dispose",
        "End what the server holds open for the project: language servers, MCP servers, watchers.",
        ENDS,
        format=done("The instance was disposed of."),
    ),
)

MISC_OPERATIONS = (*_LOOKS, *_MCP, *_SELF)


def _control(name: str, description: str, *arguments: Argument, hints: Hints = SETS) -> Operation:
    path = f"/tui/{name.replace('_', '-')}"
    return Operation(
        f"tui_{name}",
        "POST",
        path,
        description,
        hints,
        arguments,
        done("The terminal client was told."),
    )


TUI_OPERATIONS = (
    _control(
        "append_prompt",
        "Add a text to the prompt in the terminal client.",
        body("text", "The text.", required=True),
        hints=ADDS,
    ),
    _control("submit_prompt", "Send the prompt in the terminal client.", hints=ACTS),
    _control("clear_prompt", "Empty the prompt in the terminal client."),
    _control(
        "execute_command",
        "Run a command of the terminal client.",
        body("command", "Its name, such as session.new or agent.cycle.", required=True),
        hints=ACTS,
    ),
    _control(
        "show_toast",
        "Show a short message in the terminal client.",
        body("message", "The message.", required=True),
        body("variant", "Its kind.", Literal["info", "success", "warning", "error"], required=True),
        body("title", "A heading."),
        body("duration", "Milliseconds.", int),
        hints=ADDS,
    ),
    _control("open_help", "Open the help in the terminal client."),
    _control("open_sessions", "Open the list of sessions in the terminal client."),
    _control("open_models", "Open the list of models in the terminal client."),
    _control("open_themes", "Open the list of themes in the terminal client."),
    _control(
        "select_session",
        "Show a session in the terminal client.",
        body("sessionID", "The session, ses_…", SessionID, required=True),
    ),
)
