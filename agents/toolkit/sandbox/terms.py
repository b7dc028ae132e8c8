"""On which terms an agent works in a session: how much is asked, and how its programs are confined.

What a person chose beside the prompt counts, else what is configured. Where neither says anything an agent
works alone in the sandbox; where there is none to be had, a command that is not known to only read is asked
about (docs/decisions/0037-the-default.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from agents.config.loader import Loaded
from agents.config.schema import Sandbox
from agents.llm.types import Model
from agents.toolkit.permission import presets
from agents.toolkit.sandbox import probe
from agents.toolkit.sandbox.policy import confinable
from sessions.core.models import Session
from sessions.core.sentences import Sentence
from sessions.core.wire.session import Preset

Confinement = Literal["off", "project", "offline"]


@dataclass(frozen=True, slots=True)
class Terms:
    """`unchosen` is the preset of a session that none was chosen for, `preset` the one in force. `silent`:
    the configuration says nothing of permissions. `lacking`: why there is no sandbox here, after "as"; empty
    where there is one, wanted or not."""

    unchosen: Preset = "ask"
    preset: Preset = "ask"
    sandbox: Confinement = "off"
    silent: bool = False
    lacking: str = ""

    @property
    def careful(self) -> bool:
        """Whether only commands go unasked that are known to only read."""
        return self.silent and not presets.answers(self.preset, "bash", (), {})


def terms(
    loaded: Loaded, agent: str, session: Session, model: Model | None, folders: Sequence[Path]
) -> Terms:
    """Those of an agent (its name) in a session that works in `folders`. Blocks, once for a tenth of a
    second."""
    config, own = loaded.config, loaded.config.agent.get(agent)
    silent = not config.permission and not (own and own.permission)
    asked: Sandbox = (own and own.sandbox) or config.sandbox or ("auto" if silent else "off")
    lacking = _lacking(folders)
    sandbox: Confinement = asked if asked != "auto" else "off" if lacking else "project"
    asking = any(rule["action"] == "ask" for rule in session.permission)
    asking = asking or loaded.unreadable or (model is not None and model.protocol == "scripted")
    unchosen: Preset = "alone" if silent and sandbox != "off" and not asking else "ask"
    preset = presets.of(session.preset or unchosen)
    confines = presets.MEANINGS[preset].confines
    if confines is not None:
        sandbox = "off" if not confines else "offline" if sandbox == "offline" else "project"
    return Terms(unchosen, preset, sandbox, silent, lacking)


def _lacking(folders: Sequence[Path]) -> str:
    found = probe.found()
    if not found.holds:
        return found.words
    return "" if confinable(folders) else Sentence("your home folder is this project, or in it.")
