"""Agents, commands, skills, tools, MCP servers, and the server itself."""

from __future__ import annotations

from typing import Any, Literal

from opencode_web.bridge.formatting.catalogues import agents, commands, names, skills
from opencode_web.bridge.formatting.plain import bullets, done, named, statuses
from opencode_web.bridge.operation import Operation
from opencode_web.bridge.operations.arguments import body, path, query
from opencode_web.bridge.tool import ACTS, ADDS, ENDS, REACHES, READS, SETS

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
