"""How much an agent asks in a session, as a person chooses it beside the prompt.

A preset answers in the person's place what a rule asks about. It lifts no denial, and but for `everything`
nothing that guards what configures the agent itself (`defaults.GUARD`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agents.toolkit.permission.defaults import is_guarded
from sessions.core.wire.session import Preset


@dataclass(frozen=True, slots=True)
class Meaning:
    """`answers` are the permissions that it says yes to; `of_commands` those where a command asks for them,
    which runs confined. `confines`: its commands run in the sandbox, whatever the configuration says, or
    (False) never; None leaves that to the configuration."""

    label: str
    words: str
    answers: Collection[str] = frozenset()
    of_commands: Collection[str] = frozenset()
    confines: bool | None = None


MEANINGS: Mapping[Preset, Meaning] = {
    "ask": Meaning("Ask", "As the configuration says."),
    "edits": Meaning(
        "Edits go", "Edits in the project go unasked, all else as the configuration says.", {"edit"}
    ),
    "alone": Meaning(
        "Work alone",
        "Edits and commands go unasked. Commands run in the sandbox; what leaves it is asked about.",
        {"edit", "bash"},
        {"external_directory"},
        confines=True,
    ),
    "everything": Meaning(
        "Everything", "No sandbox and no questions. Only what you deny is refused.", confines=False
    ),
}


def of(name: str) -> Preset:
    """A session's; `ask` where it has none, or one that is not known any more."""
    return next((preset for preset in MEANINGS if preset == name), "ask")


def offered(*, sandbox: bool) -> dict[Preset, Meaning]:
    """Those that can be chosen; `sandbox`: whether there is one."""
    return {name: meaning for name, meaning in MEANINGS.items() if sandbox or not meaning.confines}


def answers(name: str, permission: str, patterns: Sequence[str], metadata: Mapping[str, object]) -> bool:
    """Whether a preset says yes where a rule asks."""
    preset = of(name)
    if preset == "everything":
        return True
    if permission == "edit" and any(map(is_guarded, patterns)):
        return False
    meaning = MEANINGS[preset]
    return permission in meaning.answers or ("command" in metadata and permission in meaning.of_commands)
