"""What can be chosen for a session: its agent (a mode, to editors), its model, how hard that thinks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from acp.schema import (
    ConfigOptionUpdate,
    CurrentModeUpdate,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
)

from opencode_web.bridge.call import Call
from opencode_web.bridge.remote.errors import RemoteError

Json = Mapping[str, Any]
Options = list[SessionConfigOptionSelect | SessionConfigOptionBoolean]

MODEL, MODE, EFFORT = "model", "mode", "effort"
DEFAULT = "default"
"""The effort where none is chosen."""


@dataclass
class Choices:
    """`model` is written `provider/model`. What is not `chosen` is left to the server."""

    agents: Sequence[Json]
    models: Mapping[str, Json]
    agent: str
    model: str
    effort: str = DEFAULT
    chosen: set[str] = field(default_factory=set)
    _seen: tuple[str, str, str] | None = None

    @classmethod
    async def of(cls, call: Call, session: Json) -> Choices:
        """What there is in the session's folder, and what holds for it now."""
        agents, providers, config = await asyncio.gather(
            call.get("/agent"), call.get("/config/providers"), call.get("/config")
        )
        primary = [agent for agent in agents if agent["mode"] != "subagent" and not agent.get("hidden")]
        models = {
            f"{provider['id']}/{name}": {**model, "provider": provider["name"]}
            for provider in providers["providers"]
            for name, model in provider["models"].items()
        }
        defaults = [f"{provider}/{model}" for provider, model in providers["default"].items()]
        wanted = [config.get("model"), *defaults, *models]
        names = [agent["name"] for agent in primary]
        first = config.get("default_agent")
        found = cls(
            primary,
            models,
            first if first in names else next(iter(names), ""),
            next((model for model in wanted if model in models), ""),
        )
        found.adopt(session)
        return found

    def adopt(self, session: Json) -> bool:
        """Take over what a session was given elsewhere, as at the page; whether that is something else."""
        before = (self.agent, self.model, self.effort)
        seen = _of(session)
        if seen != self._seen:
            agent, model, effort = self._seen = seen
            if any(agent == one["name"] for one in self.agents):
                self.agent = agent
            if model in self.models:
                self.model = model
                self.effort = effort if effort in self._efforts else DEFAULT
        return (self.agent, self.model, self.effort) != before

    def choose(self, option: str, value: str) -> None:
        """Raises RemoteError (invalid) for what there is not."""
        known = {MODE: [agent["name"] for agent in self.agents], MODEL: list(self.models)}
        known[EFFORT] = [DEFAULT, *self._efforts]
        if value not in known.get(option, []):
            raise RemoteError("invalid", f"There is no {option} {value!r}.")
        setattr(self, "agent" if option == MODE else option, value)
        self.chosen.add(option)
        if option == MODEL and self.effort not in self._efforts:
            self.effort = DEFAULT

    @property
    def body(self) -> dict[str, Any]:
        """As a prompt takes them."""
        found: dict[str, Any] = {}
        if MODE in self.chosen:
            found["agent"] = self.agent
        if self.chosen & {MODEL, EFFORT} and self.model:
            provider, _, model = self.model.partition("/")
            found["model"] = {"providerID": provider, "modelID": model}
            if self.effort != DEFAULT:
                found["variant"] = self.effort
        return found

    @property
    def context(self) -> int:
        """Tokens that the model takes; 0 where that is not known."""
        return int(((self.models.get(self.model) or {}).get("limit") or {}).get("context") or 0)

    @property
    def modes(self) -> SessionModeState | None:
        if not self.agents:
            return None
        modes = [
            SessionMode(id=agent["name"], name=agent["name"], description=agent.get("description"))
            for agent in self.agents
        ]
        return SessionModeState(current_mode_id=self.agent, available_modes=modes)

    @property
    def options(self) -> Options:
        models = [(name, f"{model['provider']}/{model['name']}") for name, model in self.models.items()]
        modes = [(agent["name"], agent["name"]) for agent in self.agents]
        efforts = [(name, name) for name in (DEFAULT, *self._efforts)]
        found: Options = []
        if models:
            found.append(_select(MODEL, "Model", "model", self.model, models))
        if modes:
            found.append(_select(MODE, "Agent", "mode", self.agent, modes))
        if self._efforts:
            found.append(_select(EFFORT, "Effort", "thought_level", self.effort, efforts))
        return found

    @property
    def updates(self) -> list[CurrentModeUpdate | ConfigOptionUpdate]:
        """Tell the editor that another one holds."""
        mode = CurrentModeUpdate(session_update="current_mode_update", current_mode_id=self.agent)
        options = ConfigOptionUpdate(session_update="config_option_update", config_options=self.options)
        return [mode, options]

    @property
    def _efforts(self) -> list[str]:
        return list((self.models.get(self.model) or {}).get("variants") or {})


def _of(session: Json) -> tuple[str, str, str]:
    model = session.get("model") or {}
    name = f"{model['providerID']}/{model['id']}" if model else ""
    return session.get("agent") or "", name, model.get("variant") or DEFAULT


def _select(
    id: str, name: str, category: str, current: str, values: Sequence[tuple[str, str]]
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect(
        type="select",
        id=id,
        name=name,
        category=category,
        current_value=current,
        options=[SessionConfigSelectOption(value=value, name=label) for value, label in values],
    )
