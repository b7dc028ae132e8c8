"""What the tables say, held against the protocol of MCP and OpenCode's own document."""

from __future__ import annotations

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from opencode_web.bridge.operations import TABLE
from opencode_web.bridge.prompts import PROMPTS
from opencode_web.bridge.server import RESOURCES, TOOLS
from opencode_web.bridge.tool import Operation
from tests.opencode_web.bridge.stage import bridged
from tests.protocol.reference import reference
from tests.server import ROOT

WORKFLOWS = (
    "setup context provider_test status ask reply run fire check conversation sessions_overview "
    "review_changes wait"
).split()
RESOURCE_NAMES = (
    "project/current config providers agents commands health vcs sessions mcp-servers file-status"
).split()
PROMPT_NAMES = "code-review debug project-setup implement best-practices session-summary".split()
OPERATIONS = [operation for operations in TABLE.values() for operation in operations]


@pytest.fixture(scope="module")
def document(user_environ: dict[str, str]) -> dict[str, Any]:
    return reference(user_environ).document


async def test_a_client_sees_all_and_nothing_is_started_for_it() -> None:
    """There is no server at this address, and listing needs none."""
    async with bridged({"OPENCODE_BASE_URL": "http://127.0.0.1:9"}, ROOT, "--no-start") as tools:
        listed = (await tools.client.list_tools()).tools
        resources = (await tools.client.list_resources()).resources
        templates = (await tools.client.list_resource_templates()).resource_templates
        prompts = (await tools.client.list_prompts()).prompts
        failed = await tools.fails("status")
        missing = await tools.fails("session_get")
    assert len(listed) >= 78
    assert {f"opencode_{name}" for name in WORKFLOWS} < {tool.name for tool in listed}
    for tool in listed:
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
        assert "directory" in tool.input_schema["properties"], tool.name
        assert tool.description
        hints = tool.annotations
        assert hints is not None
        assert hints.title == tool.title is not None
        given = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert None not in given, tool.name
        assert not (hints.read_only_hint and hints.destructive_hint), tool.name
    assert {resource.uri for resource in resources} == {f"opencode://{name}" for name in RESOURCE_NAMES}
    assert templates == []
    assert {prompt.name for prompt in prompts} == {f"opencode-{name}" for name in PROMPT_NAMES}
    assert failed.startswith("unreachable: No server answers at http://127.0.0.1:9.")
    assert missing.startswith("invalid: sessionID: Field required")


def test_names_are_unique_and_workflows_come_first() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert len(OPERATIONS) >= 65
    assert [
        name.removeprefix("opencode_") for name in names[:4]
    ] == "setup context provider_test status".split()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_each_operation_is_in_opencodes_document(operation: Operation, document: dict[str, Any]) -> None:
    """With its path parameters and, as far as they go over as they stand, its query and its body."""
    declared = document["paths"][operation.path][operation.method.lower()]
    parameters = {item["name"]: item["in"] for item in declared.get("parameters", [])}
    body = _properties(document, declared)
    for argument in operation.arguments:
        if argument.place in ("path", "query"):
            assert parameters[argument.name] == argument.place
        elif argument.place == "body" and operation.shape is None:
            assert argument.name in body
    required = {item["name"] for item in declared.get("parameters", []) if item.get("required")}
    assert required <= {argument.name for argument in operation.arguments if argument.required}
    assert set(re.findall(r"{(\w+)}", operation.path)) <= required
    assert (operation.method == "GET") == operation.hints.read_only


def _properties(document: dict[str, Any], declared: dict[str, Any]) -> set[str]:
    schema = declared.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return set(schema.get("properties", {}))


def test_prompts_name_tools_that_there_are() -> None:
    names = {tool.name for tool in TOOLS}
    for prompt in PROMPTS:
        arguments = {argument.name: "something" for argument in prompt.arguments}
        text = prompt.filled(arguments)
        assert set(re.findall(r"opencode_\w+", text)) <= names
        assert "{" not in text
        for argument in prompt.arguments:
            if argument.required:
                with pytest.raises(KeyError, match=argument.name):
                    prompt.filled({})
    assert len(PROMPTS) == 6
    assert len(RESOURCES) == 10
