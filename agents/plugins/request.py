"""What plugins may change of a request to a provider: messages, system texts, tools, parameters, headers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from agents.llm.settings.domains import Controls, Settings
from agents.llm.settings.ingest import settings_of
from agents.llm.types import ModelRequest, ToolSpec
from agents.plugins.hooks import listening, trigger
from agents.plugins.models import shape_of
from agents.toolkit.turn import Turn

Entry = dict[str, Any]
"""`{"info", "parts"}`; the role `system` is what the model is told of its surroundings."""
MESSAGES = "experimental.chat.messages.transform"


async def history(turn: Turn, entries: Sequence[Entry]) -> Sequence[Entry]:
    """The entries of a conversation to send; none that is given is changed. Those of the role `system` are
    not the plugins' to change: they stay before what they stood before."""
    if not await listening(turn.session, MESSAGES):
        return entries
    said = [entry for entry in entries if entry["info"]["role"] != "system"]
    shown = [_shown(turn, entry) for entry in said]
    made = (await trigger(turn.session, MESSAGES, _input(turn), {"messages": shown}))["messages"]
    same = {whole["info"]["id"]: (whole, entry) for whole, entry in zip(shown, said, strict=True)}
    return _with_system(entries, (_original(entry, same.get(entry["info"]["id"])) for entry in made))


def _shown(turn: Turn, entry: Entry) -> Entry:
    """With the keys that a plugin may rely on, where a compaction has made the entry."""
    info = {"sessionID": turn.session.id, **entry["info"]}
    place = {"sessionID": turn.session.id, "messageID": info["id"]}
    parts = [{"id": f"prt_{info['id']}_{at}", **place, **part} for at, part in enumerate(entry["parts"])]
    return {"info": info, "parts": parts}


def _original(entry: Entry, known: tuple[Entry, Entry] | None) -> Entry:
    """What was left as it was is not read anew."""
    return known[1] if known and known[0] == entry else entry


def _with_system(given: Sequence[Entry], made: Iterable[Entry]) -> list[Entry]:
    places = {entry["info"]["id"]: at for at, entry in enumerate(given)}
    told = deque(entry for entry in given if entry["info"]["role"] == "system")
    found: list[Entry] = []
    for entry in made:
        while told and places[told[0]["info"]["id"]] < places.get(entry["info"]["id"], -1):
            found.append(told.popleft())
        found.append(entry)
    return [*found, *told]


async def shaped(turn: Turn, request: ModelRequest) -> ModelRequest:
    """The request as the plugins have it; the same one when none has a hook for it."""
    request = await _system(turn, request)
    request = replace(request, tools=await _tools(turn, request.tools))
    request = await _params(turn, request)
    return await _headers(turn, request)


def _input(turn: Turn) -> dict[str, Any]:
    model = turn.model
    return {
        "sessionID": turn.session.id,
        "agent": turn.agent.name,
        "model": {**shape_of(model), "modelID": model.model_id, "variant": turn.variant or None},
        "provider": {"info": {"id": model.provider_id}, "options": {}},
    }


async def _system(turn: Turn, request: ModelRequest) -> ModelRequest:
    """Two texts at most, whatever a plugin makes of them: the first is what a provider's cache keeps."""
    given = list(request.system)
    made = await trigger(turn.session, "experimental.chat.system.transform", _input(turn), {"system": given})
    first, *others = made["system"]
    rest = "\n\n".join(text for text in others if text)
    return replace(request, system=[first, rest] if rest else [first])


async def _tools(turn: Turn, specs: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    if not await listening(turn.session, "tool.definition"):
        return specs
    shown = []
    for spec in specs:
        output = {"description": spec.description, "parameters": dict(spec.parameters)}
        made = await trigger(turn.session, "tool.definition", {"toolID": spec.name, **_input(turn)}, output)
        shown.append(ToolSpec(spec.name, made["description"], made["parameters"]))
    return shown


async def _params(turn: Turn, request: ModelRequest) -> ModelRequest:
    if not await listening(turn.session, "chat.params"):
        return request
    asked = request.settings
    output = {
        "temperature": asked.controls.temperature,
        "topP": asked.controls.top_p,
        "topK": asked.controls.top_k,
        "maxOutputTokens": asked.controls.max_output,
        "options": dict(asked.options),
    }
    made = await trigger(turn.session, "chat.params", _input(turn), output)
    controls = replace(
        asked.controls,
        temperature=made["temperature"],
        top_p=made["topP"],
        top_k=made["topK"],
        max_output=made["maxOutputTokens"],
    )
    # All that was asked is in `settings` now, so that a plugin can also take something back. It may write
    # options as OpenCode's configuration has them.
    settings = Settings(controls, body=asked.body).under(settings_of(made["options"]))
    # What a plugin asks for is sent, also to a model that nothing else asks for a temperature.
    model = replace(request.model, settings=settings, temperature=True)
    return replace(request, model=model, controls=Controls(), options={}, body={})


async def _headers(turn: Turn, request: ModelRequest) -> ModelRequest:
    made = await trigger(turn.session, "chat.headers", _input(turn), {"headers": {}})
    if not made["headers"]:
        return request
    return replace(
        request, model=replace(request.model, headers={**request.model.headers, **made["headers"]})
    )
