"""Bodies that are not the arguments as they stand."""

from __future__ import annotations

from typing import Any

from opencode_web.bridge.call import Call, Json, Model
from opencode_web.bridge.remote.errors import RemoteError
from sessions.core import ids


async def prompt(call: Call, given: Json) -> Json:
    """Of `session.prompt`: a text, and what it is to be answered with."""
    kept = _kept(given, "agent", "system", "noReply", "variant")
    return {"parts": [{"type": "text", "text": given["text"]}], **_model(call, given), **kept}


async def shell(call: Call, given: Json) -> Json:
    return {"command": given["command"], "agent": given.get("agent", "build"), **_model(call, given)}


async def command(call: Call, given: Json) -> Json:
    """A command's model is one text, `provider/model`."""
    model = call.model(given.get("providerID"), given.get("modelID"))
    kept = _kept(given, "agent")
    named = {"model": str(model)} if model else {}
    return {"command": given["command"], "arguments": given.get("arguments", ""), **kept, **named}


async def with_model(call: Call, given: Json) -> Json:
    """Of operations that have to name a model: without one, the session's own or the server's default."""
    model = call.model(given.get("providerID"), given.get("modelID"))
    if model is None:
        model = await _session_model(call, given["sessionID"]) or await default_model(call)
    return model.wire


async def init(call: Call, given: Json) -> Json:
    """Of `session.init`, which wants an id for the prompt it makes."""
    return {**await with_model(call, given), "messageID": ids.ascending("msg")}


async def credentials(_: Call, given: Json) -> Json:
    """Of `auth.set`: an API key."""
    return {"type": "api", "key": given["key"]}


async def archived(_: Call, given: Json) -> Json:
    """Of `session.update`; `archived` is a time, in milliseconds, of which the server wants any."""
    kept = _kept(given, "title", "metadata")
    return {**kept, "time": {"archived": given["archived"]}} if "archived" in given else kept


async def worktree(_: Call, given: Json) -> Json:
    """The folder of a worktree has another name in our arguments: `directory` is the project's."""
    return {"directory": given["worktree"]}


async def config(_: Call, given: Json) -> Json:
    """The configuration is the body itself."""
    return dict(given["config"])


async def default_model(call: Call) -> Model:
    """The third tier where it has to be named: the configured model, or the first provider's default."""
    configured = str((await call.get("/config")).get("model") or "")
    if "/" in configured:
        return Model(*configured.split("/", 1))
    defaults: dict[str, str] = (await call.get("/config/providers")).get("default") or {}
    for provider_id, model_id in defaults.items():
        return Model(provider_id, model_id)
    raise RemoteError("invalid", "The server has no model: connect a provider with opencode_auth_set.")


async def _session_model(call: Call, session_id: str) -> Model | None:
    model = (await call.get(f"/session/{session_id}")).get("model")
    return Model(model["providerID"], model["id"]) if model else None


def _kept(given: Json, *names: str) -> Json:
    return {name: given[name] for name in names if name in given}


def _model(call: Call, given: Json) -> dict[str, Any]:
    model = call.model(given.get("providerID"), given.get("modelID"))
    return {"model": model.wire} if model else {}
