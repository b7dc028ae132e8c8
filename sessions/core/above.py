"""What is asked of `agents`, which nothing here imports: the one name in the settings, and its types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, Protocol, cast

from django.conf import settings
from django.utils.module_loading import import_string

from sessions.core.models import Project, Session
from sessions.core.store.added_folders import AddedFolder

ShareMode = Literal["manual", "auto", "disabled"]
ResumeMode = Literal["auto", "ask", "off"]


@dataclass(frozen=True, slots=True)
class Port:
    """`way` is the port on this machine that leads there; 0 while nobody opened one."""

    number: int
    way: int = 0


@dataclass(frozen=True, slots=True)
class Keybind:
    """Keys of something (`sessions.web.shortcuts`, by name and as written there), by a file called `origin`.
    `strange` are those that no browser has."""

    name: str
    keys: tuple[str, ...]
    origin: str
    strange: tuple[str, ...] = ()


class Agents(Protocol):
    """A `directory` is the folder that a session works in. All of them read files when these have changed."""

    def share_mode(self, directory: str) -> ShareMode:
        """Whether sessions may be shared, and whether new ones are."""

    def resume_mode(self, directory: str) -> ResumeMode:
        """What becomes of a turn that was cut off."""

    def folders(self, project: Project, session: Session | None) -> Sequence[AddedFolder]:
        """Those beside the project that a session of it, or a new one, has: those that were added to it, and
        those of the configuration."""

    def secrets(self, directory: str) -> Iterable[str]:
        """The secrets of its configuration, which nothing that leaves this machine may say."""

    def model_name(self, directory: str, provider_id: str, model_id: str) -> str:
        """What a model is called there."""

    def other_models(
        self, directory: str, agent: str, provider_id: str, model_id: str
    ) -> list[tuple[str, str]]:
        """Those to go on with where a model has failed, as `provider/model` and by name: what the
        configuration's `fallback` names, else the best of a few other providers."""

    def ports(self, session_id: str) -> Sequence[Port]:
        """Those that programs in the sandbox of a session listen on."""

    def keybinds(self) -> tuple[Keybind, ...]:
        """What the person's own configuration says of keys, each name once."""

    def context_window(self, provider_id: str, model_id: str) -> int | None:
        """Tokens that a model takes; None for one that is not known."""


@cache
def agents() -> Agents:
    return cast(Agents, import_string(settings.AGENTS))
