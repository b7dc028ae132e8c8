"""How much an agent asks in a session, as a person chooses it beside the prompt.

A preset answers in the person's place what a rule asks about. It lifts no denial, and but for `everything`
nothing that guards what configures the agent itself (`defaults.GUARD`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.utils.translation.trans_null import gettext_noop

from agents.toolkit.permission.defaults import is_guarded
from agents.toolkit.permission.limit import LIMIT
from agents.toolkit.permission.planning import MAY_CHANGE
from agents.toolkit.permission.rules import Personal, Rule
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
    "ask": Meaning(gettext_noop("Ask"), gettext_noop("As the configuration says.")),
    "edits": Meaning(
        gettext_noop("Edits go"),
        gettext_noop("Edits in the project go unasked, all else as the configuration says."),
        {"edit"},
    ),
    "alone": Meaning(
        gettext_noop("Work alone"),
        gettext_noop(
            "Edits and commands go unasked. Commands run in the sandbox; what leaves it is asked about."
        ),
        {"edit", "bash"},
        {"external_directory"},
        confines=True,
    ),
    "reviewed": Meaning(
        gettext_noop("Reviewed"),
        gettext_noop(
            "What would be asked is read by a model first: it says yes to that one call, or you are asked."
        ),
    ),
    "everything": Meaning(
        gettext_noop("Everything"),
        gettext_noop(
            "No sandbox, and no questions but where a limit is reached. Only what you deny is refused."
        ),
        confines=False,
    ),
}


SILENT: Mapping[Preset, str] = {
    "ask": gettext_noop("Edits in the project go unasked, and commands that are known to only read."),
    "edits": gettext_noop("Edits in the project go unasked, and commands that are known to only read."),
}
"""The words where no configuration says anything."""


def of(name: str) -> Preset:
    """The one of a name; `ask` where it is not known any more."""
    return next((preset for preset in MEANINGS if preset == name), "ask")


def meant(preset: Preset, *, silent: bool) -> Meaning:
    """What one means here; `silent`: no configuration says anything."""
    words = SILENT.get(preset) if silent else None
    return replace(MEANINGS[preset], words=words) if words else MEANINGS[preset]


def offered(*, sandbox: bool, silent: bool, reviewer: bool) -> dict[Preset, Meaning]:
    """Those that can be chosen; `sandbox`, `reviewer`: whether there is one. Edits go anyway where nothing is
    configured."""
    left_out = {"edits": silent, "reviewed": not reviewer}
    return {
        name: meant(name, silent=silent)
        for name, meaning in MEANINGS.items()
        if not left_out.get(name) and (sandbox or not meaning.confines)
    }


def is_for_a_person(permission: str, patterns: Sequence[str], asking: Sequence[Rule]) -> bool:
    """Whether a person is asked in any mode: by a rule that says so, as a limit is reached, or as an agent
    that plans or only looks is not known to only read."""
    marked = any(pattern.startswith(MAY_CHANGE) for pattern in patterns)
    return permission == LIMIT or marked or any(isinstance(rule, Personal) for rule in asking)


def answers(name: str, permission: str, patterns: Sequence[str], metadata: Mapping[str, object]) -> bool:
    """Whether a preset says yes where a rule asks."""
    preset = of(name)
    if preset == "everything":
        return True
    if permission == "edit" and any(map(is_guarded, patterns)):
        return False
    meaning = MEANINGS[preset]
    return permission in meaning.answers or ("command" in metadata and permission in meaning.of_commands)
