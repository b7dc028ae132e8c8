"""Who looks at a preview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from opencode_web.site.security.cookies import BrowserSession


@dataclass(frozen=True, slots=True)
class Holder:
    """A preview is theirs for as long as `login` lasts; `principal` is the guard's."""

    login: BrowserSession
    principal: Any
