"""Providers, agents, commands, files and search results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opencode_web.bridge.formatting.plain import bullets, named, one_line

Json = dict[str, Any]

agents = bullets(named("name", "mode", "description"), "No agents.")
commands = bullets(named("name", "description", "agent"), "No commands.")
skills = bullets(named("name", "description", "location"), "No skills.")
projects = bullets(named("id", "name", "worktree", "vcs"), "No projects.")
terminals = bullets(named("id", "title", "command", "status", "pid", "cwd"), "No terminals.")
names = bullets(str)


def usable_providers(data: Json) -> str:
    """`GET /config/providers`: those that can be used, with their models."""
    return _providers(data["providers"], data.get("default") or {}, with_models=True)


def known_providers(data: Json) -> str:
    """`GET /provider`: all there are; which of them are connected comes first."""
    connected = set(data.get("connected") or [])
    everyone = sorted(data["all"], key=lambda provider: (provider["id"] not in connected, provider["id"]))
    lines = [
        f"- {provider['id']} ({provider['name']}): "
        f"{'connected' if provider['id'] in connected else 'not connected'}, "
        f"{len(provider.get('models') or {})} models"
        for provider in everyone
    ]
    return "\n".join([f"{len(connected)} of {len(everyone)} providers are connected:", *lines])


def brief_providers(data: Json) -> Json:
    """`GET /config/providers` as data, without keys and prices."""
    providers = [
        {"id": item["id"], "name": item["name"], "models": sorted(item.get("models") or {})}
        for item in data["providers"]
    ]
    return {"default": data.get("default") or {}, "providers": providers}


def auth_methods(data: Mapping[str, Sequence[Json]]) -> str:
    if not data:
        return "No provider offers a way to sign in."
    return "\n".join(
        f"- {name}: " + "; ".join(f"{i} {one['type']} ({one['label']})" for i, one in enumerate(methods))
        for name, methods in data.items()
    )


def hits(data: Sequence[Json]) -> str:
    """Lines that a search found."""
    if not data:
        return "Nothing found."
    found = (
        f"- {hit['path']['text']}:{hit['line_number']}: {one_line(hit['lines']['text'], 240)}" for hit in data
    )
    return "\n".join([f"{len(data)} lines:", *found])


def symbols(data: Sequence[Json]) -> str:
    if not data:
        return "Nothing found."
    return "\n".join(
        f"- {item['name']}: {item['location']['uri']}:{item['location']['range']['start']['line'] + 1}"
        for item in data
    )


def entries(data: Sequence[Json]) -> str:
    """A folder; a slash follows the folders in it."""
    if not data:
        return "The folder is empty."
    return "\n".join(
        f"- {item['name']}" + "/" * (item["type"] == "directory") + " (ignored)" * item["ignored"]
        for item in data
    )


def content(data: Json) -> str:
    """A file."""
    if data["type"] == "binary":
        return f"A binary file ({data.get('mimeType') or 'unknown type'}); its bytes are not shown."
    return str(data["content"]) or "The file is empty."


def _providers(items: Sequence[Json], default: Mapping[str, str], *, with_models: bool) -> str:
    if not items:
        return "No provider is connected: set a key with opencode_auth_set."
    lines = []
    for item in items:
        models = sorted(item.get("models") or {})
        first = default.get(item["id"])
        lines.append(f"- {item['id']} ({item['name']}), {len(models)} models" + _default(first))
        if with_models:
            lines.extend(f"  - {model}" for model in models)
    return "\n".join(lines)


def _default(model: str | None) -> str:
    return f", default {model}" if model else ""
