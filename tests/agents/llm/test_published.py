"""Requests of whole conversations, held against what makers publish of their interfaces: the types of their
own packages, in which every field that they do not name is one too many.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents.config.schema import Config
from agents.llm import stream
from agents.llm.providers import find_model, resolve
from agents.llm.types import (
    ChatMessage,
    FileContent,
    ModelError,
    ReasoningContent,
    TextContent,
    ToolCallContent,
    ToolResultContent,
    ToolSpec,
)
from agents.tools.registry import BUILTIN
from tests.agents.llm.asking import events, request, user
from tests.agents.llm.replay import replaying, sse
from tests.agents.tools.context import turn_in
from tests.programs import pypi

pytestmark = [pytest.mark.long, pytest.mark.litellm]

PROGRAM = Path(__file__).with_name("published.py")
TURN = turn_in(Path("/"), Path("/"))
TOOLS = [
    ToolSpec(tool.name, tool.description, tool.schema(TURN)) for tool in BUILTIN if tool.name != "invalid"
]
PICTURE = FileContent("image/png", "iVBORw0KGgo=", "a.png")
SAMPLING = {"temperature": 0.5, "topP": 0.9, "stop": ["END"], "seed": 7}
COMMON = {"maxOutputTokens": 4000, "parallelToolCalls": False}


@dataclass(frozen=True, slots=True)
class Case:
    """`thought` is what the maker gave beside its thoughts; `schema` the name of its publication."""

    provider: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    thought: Mapping[str, Any] = field(default_factory=dict)
    schema: str = ""


CASES = [
    Case("openai", "gpt-5", {"reasoningEffort": "low"}, {"encrypted": "c2VhbGVk"}, "responses"),
    Case("openai", "gpt-4.1", {"temperature": 0.5, "topP": 0.9}, schema="responses"),
    Case("anthropic", "claude-sonnet-4-5", {"stop": ["END"]}, {"signature": "c2ln"}),
    Case(
        "anthropic",
        "claude-sonnet-4-5",
        {"thinking": {"type": "enabled", "budgetTokens": 16_000}},
        {"redacted": "c2VhbGVk"},
    ),
    Case("google", "gemini-2.5-pro", SAMPLING),
    Case("mistral", "mistral-large-latest", SAMPLING),
    Case("mistral", "magistral-medium-latest", {}, {"field": "content"}),
    Case("groq", "openai/gpt-oss-120b", {**SAMPLING, "reasoningEffort": "low"}, {"field": "reasoning"}),
    Case("openrouter", "anthropic/claude-sonnet-4.5", SAMPLING, {"field": "reasoning"}),
    Case("openrouter", "openai/gpt-5", {"reasoningEffort": "low"}),
    Case("xai", "grok-4", SAMPLING, {"field": "reasoning_content"}),
    Case("deepseek", "deepseek-chat", SAMPLING, {"field": "reasoning_content"}),
    Case("azure", "gpt-5", {"reasoningEffort": "low"}, schema="openai"),
    Case("azure", "gpt-4.1", SAMPLING, schema="openai"),
]


@pytest.fixture(scope="module")
def published() -> dict[str, Any]:
    python = pypi("openai", "python", os.environ)
    done = subprocess.run([python, PROGRAM], capture_output=True, check=True)
    schemas: dict[str, Any] = json.loads(done.stdout)
    return {**schemas, "deepseek": with_thoughts(schemas["openai"])}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.provider}-{case.model}")
async def test_a_request_is_as_its_maker_publishes_it(
    published: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    monkeypatch.setenv("AZURE_API_VERSION", "2025-04-01-preview")
    sent = await body(case)
    assert len(sent.get("messages") or sent.get("input") or sent["contents"]) >= 3
    if case.provider == "google":
        sent = in_camel_case(sent)
    if case.schema == "responses":
        sent["input"] = list(map(with_ids, sent["input"]))
    validator = Draft202012Validator(strict(published[case.schema or case.provider]))
    assert [f"{list(each.absolute_path)}: {each.message[:500]}" for each in validator.iter_errors(sent)] == []


async def body(case: Case) -> dict[str, Any]:
    """What a conversation with pictures, thoughts and calls is sent as; the answer is empty."""
    async with replaying(sse("[DONE]")) as server:
        url = server.base_url.removesuffix("/v1") if case.provider == "azure" else server.base_url
        known = {
            "attachment": True,
            "reasoning": "4.1" not in case.model,
            "modalities": {"input": ["text", "image"]},
        }
        entry = {"options": {"baseURL": url, "apiKey": "k"}, "models": {case.model: known}}
        config = Config.model_validate({"provider": {case.provider: entry}})
        model = find_model(resolve(config, {}, {}, {}), f"{case.provider}/{case.model}")
        with suppress(ModelError):
            await events(
                stream, request(model, *conversation(case.thought), tools=TOOLS, **COMMON, **case.options)
            )
        return dict(server.sent)


def conversation(thought: Mapping[str, Any]) -> Sequence[ChatMessage]:
    calls = [
        ToolCallContent("call_1", "read", {"filePath": "a.png"}),
        ToolCallContent("call_2", "bash", {"command": "false", "description": "Fail"}),
    ]
    thoughts = [ReasoningContent("" if "redacted" in thought else "Hm.", thought)] if thought else []
    results = [
        ToolResultContent("call_1", "read", "A picture.", attachments=[PICTURE]),
        ToolResultContent("call_2", "bash", "[Exit code 1]", is_error=True),
    ]
    return [
        user("Look at it.", PICTURE),
        ChatMessage("system", [TextContent("The date has changed.")]),
        ChatMessage("assistant", [*thoughts, TextContent("I read it."), *calls]),
        ChatMessage("tool", results),
        user("Go on."),
    ]


def strict(schema: Any) -> Any:
    """With no field but those that are named, wherever any are."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: strict(value) for key, value in schema.items()}
    return {"additionalProperties": False, **inner} if isinstance(schema.get("properties"), dict) else inner


def with_thoughts(schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAI's interface with the one field that DeepSeek documents beside it ("Thinking Mode")."""
    changed: dict[str, Any] = json.loads(json.dumps(schema))
    changed["$defs"]["ChatCompletionAssistantMessageParam"]["properties"]["reasoning_content"] = {
        "type": "string"
    }
    return changed


def with_ids(item: dict[str, Any]) -> dict[str, Any]:
    """Answers and thoughts go back without the ids that their published types have: nothing is stored under
    them, and OpenAI's own client Codex sends none either."""
    if item["type"] == "reasoning":
        return {**item, "id": "rs_1"}
    if item.get("role") != "assistant":
        return item
    texts = [{**text, "annotations": []} for text in item["content"]]
    return {**item, "id": "msg_1", "status": "completed", "content": texts}


def in_camel_case(value: Any) -> Any:
    """JSON of Protocol Buffers takes a field by either name (protobuf.dev, ProtoJSON), and Gemini a type in
    small letters, as its own examples have it; what is below `args` and `response` is no field."""
    if isinstance(value, list):
        return [in_camel_case(each) for each in value]
    if not isinstance(value, dict):
        return value
    if isinstance(kind := value.get("type"), str):
        value = {**value, "type": kind.upper()}
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), key): item
        if key in ("args", "response")
        else in_camel_case(item)
        for key, item in value.items()
    }
