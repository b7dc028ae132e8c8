"""Where a server has people (docs/decisions/0052), the guard asks who they are, as they are now."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from opencode_web.site.security.request import Request

Said = dict[str, Any]
"""A person: `id`, `name`, `role`, and `roles` as `sessions.core.roles.Person.of` reads them."""


class People(Protocol):
    """None: there is nobody like that, or they were switched off."""

    async def signed_in(self, login: str) -> Said | None:
        """Who signed in with the login of this id."""

    async def with_token(self, token: str) -> tuple[str, Said] | None:
        """Whose token it is, with no more than the token may do, and the name under which what it has open
        is held (`Logins`)."""

    async def named(self, name: str) -> Said | None:
        """By a proxy that knows them."""

    async def standing(self, names: Collection[str]) -> Mapping[str, Said | None]:
        """Who each is now, under whose name something is held open: that of a login, or as `with_token`
        says."""

    async def may_open(self, person: Said, request: Request) -> bool:
        """Whether they may have this socket. Pages are asked about by the application, which knows them."""


def name_of(request: Request, header: bytes) -> list[str]:
    """What a proxy says in that header of who asks; it should be one name at most."""
    return [value.decode("latin-1") for name, value in request.scope["headers"] if name == header and header]


def token_of(authorization: bytes) -> str:
    """A token comes as clients of OpenCode send a password: as Bearer, or as Basic with any user."""
    scheme, _, value = authorization.partition(b" ")
    if scheme.lower() == b"bearer":
        return value.strip().decode("latin-1")
    try:
        return b64decode(value).partition(b":")[2].decode("latin-1") if scheme.lower() == b"basic" else ""
    except ValueError:
        return ""
