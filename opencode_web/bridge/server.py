"""The MCP server: tools, resources and prompts of the tables, through the official SDK."""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

import opencode_web
from opencode_web.bridge.call import Call
from opencode_web.bridge.formatting.catalogues import brief_providers
from opencode_web.bridge.formatting.plain import limited, redacted, secrets_in, without
from opencode_web.bridge.operations import TABLE
from opencode_web.bridge.prompts import PROMPTS
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.bridge.tool import Tool, tool_of
from opencode_web.bridge.workflows import PIECES, WORKFLOWS

Reduce = Callable[[Any], Any]


def _all(data: Any) -> Any:
    return data


def _only(*names: str) -> Reduce:
    """Of each item of a list only these fields: the others are prompts, templates and rules."""
    return lambda items: [{name: item[name] for name in names if name in item} for item in items]


@dataclass(frozen=True, slots=True)
class Resource:
    """`reduce` leaves out what is secret or too much."""

    uri: str
    title: str
    description: str
    path: str
    reduce: Reduce = _all


RESOURCES = tuple(
    Resource(f"opencode://{name}", title, description, path, reduce)
    for name, title, description, path, reduce in (
        ("project/current", "Project", "The project of the directory.", "/project/current", _all),
        ("config", "Configuration", "The configuration; secrets are hidden.", "/config", redacted),
        ("providers", "Providers", "Providers that can be used, with their models.", "/config/providers",
         brief_providers),
        ("agents", "Agents", "The agents.", "/agent", _only("name", "mode", "description", "model")),
        ("commands", "Commands", "The slash commands.", "/command", _only("name", "description", "agent")),
        ("health", "Health", "Whether the server answers, and its version.", "/global/health", _all),
        ("vcs", "Version control", "The branch.", "/vcs", _all),
        ("sessions", "Sessions", "The sessions, newest first.", "/session", _all),
        ("mcp-servers", "MCP servers", "The MCP servers of the agent and their states.", "/mcp", _all),
        ("file-status", "Changed files", "Files that differ from the last commit.", "/file/status", _all),
    )
)  # fmt: skip


logger = logging.getLogger(__name__)

INSTRUCTIONS = """Tools for an OpenCode server: an AI coding agent that works in a project's folder.
Begin with opencode_setup. Ask with opencode_ask, give tasks with opencode_run, look with opencode_check.
The prompt opencode-best-practices says more."""

LOW_LEVEL = [tool_of(group, operation) for group, operations in TABLE.items() for operation in operations]
TOOLS: tuple[Tool, ...] = (*WORKFLOWS, *LOW_LEVEL, *PIECES)

Context = ServerRequestContext[Any]


class Bridge:
    """`call` is what every tool call begins as; its report goes nowhere."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._tools = {tool.name: tool for tool in TOOLS}
        self.server: Server[Any] = Server(
            "opencode-web",
            version=opencode_web.__version__,
            title="OpenCode",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_definition(tool) for tool in TOOLS])

    async def _call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS, f"Unknown tool {params.name!r}.{_near(params.name, self._tools)}"
            )
        given = tool.named(params.arguments or {})
        secrets = [text for name in tool.secrets for text in secrets_in(given.get(name))]
        try:
            text, failed = await self._run(tool, given, context), False
        except RemoteError as error:
            text, failed = f"{error.category}: {error}\nHint: {error.hint}", True
        except ValidationError as error:
            text, failed = (
                f"invalid: {_problems(error, tool)}\nHint: correct the arguments and call again.",
                True,
            )
        except Exception as error:
            logger.exception("%s failed", tool.name)
            text, failed = f"internal: {tool.name} failed ({type(error).__name__}); the log says more.", True
        content: list[types.ContentBlock] = [types.TextContent(text=limited(without(text, secrets)))]
        return types.CallToolResult(content=content, is_error=failed)

    async def _run(self, tool: Tool, given: dict[str, Any], context: Context) -> str:
        arguments = tool.arguments.model_validate(given)
        steps = 0

        async def report(text: str) -> None:
            nonlocal steps
            steps += 1
            await context.session.report_progress(steps, None, text)

        call = replace(self._call, report=report).at(arguments.directory)
        return await tool.run(call, arguments)

    async def _list_resources(self, _: Context, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=resource.uri,
                    name=resource.uri.removeprefix("opencode://"),
                    title=resource.title,
                    description=resource.description,
                    mime_type="application/json",
                )
                for resource in RESOURCES
            ]
        )

    async def _list_templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        """There are none; clients ask for them wherever there are resources."""
        return types.ListResourceTemplatesResult(resource_templates=[])

    async def _read_resource(
        self, _: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        resource = next((one for one in RESOURCES if one.uri == uri), None)
        if resource is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri}.", {"uri": uri})
        try:
            data = resource.reduce(await self._call.get(resource.path))
        except RemoteError as error:
            raise MCPError(
                types.INTERNAL_ERROR, f"{error.category}: {error} {error.hint}", {"uri": uri}
            ) from error
        text = limited(json.dumps(data, indent=1, ensure_ascii=False))
        contents = types.TextResourceContents(uri=uri, text=text, mime_type="application/json")
        return types.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=prompt.name,
                    title=prompt.title,
                    description=prompt.description,
                    arguments=[
                        types.PromptArgument(
                            name=argument.name, description=argument.description, required=argument.required
                        )
                        for argument in prompt.arguments
                    ],
                )
                for prompt in PROMPTS
            ]
        )

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = next((one for one in PROMPTS if one.name == params.name), None)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no prompt {params.name!r}.")
        try:
            text = prompt.filled(params.arguments or {})
        except KeyError as error:
            raise MCPError(types.INVALID_PARAMS, f"The argument {error} is missing.") from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def _definition(tool: Tool) -> types.Tool:
    hints = tool.hints
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema,
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


def _problems(error: ValidationError, tool: Tool) -> str:
    """Which arguments are wrong and why; not their values, which may be secrets."""
    fields = list(tool.arguments.model_fields)
    unknown = f"there is no such argument; it takes {', '.join(fields)}."
    told = []
    for one in error.errors():
        where = ".".join(map(str, one["loc"])) or "arguments"
        wrong = one["type"] == "extra_forbidden" and len(one["loc"]) == 1
        told.append(f"{where}: {unknown + _near(where, fields) if wrong else one['msg']}")
    return "; ".join(told)


def _near(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, list(names), 3)
    return f" Did you mean {', '.join(found)}?" if found else ""
