"""What can go wrong between a client and a server, in categories a caller can act on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Category = Literal[
    "unreachable",
    "auth",
    "refused",
    "provider",
    "not_found",
    "invalid",
    "conflict",
    "transient",
    "timeout",
    "server",
]

HINTS: Mapping[Category, str] = {
    "unreachable": "Is the server running, and is its address right?",
    "auth": "Set OPENCODE_SERVER_USERNAME and OPENCODE_SERVER_PASSWORD to those of the server.",
    "refused": "The server does not allow this. Paths have to be within the project, and some folders a "
    "person has to open first.",
    "provider": "The model's provider does not take the key or the account: a person has to give another key "
    "(opencode_auth_set) or sign in (opencode_provider_auth_methods); or name another model.",
    "not_found": "List what there is first; ids and names have to be exact, and belong to this directory.",
    "invalid": "Correct the arguments and call again.",
    "conflict": "Something else is under way; look at the state first, then try again.",
    "transient": "The server is busy or limited; try again in a moment.",
    "timeout": "The server did not answer in time; look at the state before repeating a change.",
    "server": "The server failed; its log says more.",
}

_BY_STATUS: Mapping[int, Category] = {
    401: "auth",
    403: "refused",
    404: "not_found",
    408: "timeout",
    409: "conflict",
    429: "transient",
    502: "transient",
    503: "transient",
    504: "transient",
}


class RemoteError(Exception):
    """A request that failed. `status` is that of the answer, 0 without one.

    `sent` is false when nothing can have reached the server, so that repeating the request is safe;
    `retry_after` is the wait in seconds that the server asked for.
    """

    def __init__(
        self,
        category: Category,
        message: str,
        *,
        status: int = 0,
        sent: bool = True,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.category = category
        self.status = status
        self.sent = sent
        self.retry_after = retry_after

    @property
    def hint(self) -> str:
        return HINTS[self.category]


def category_of(status: int) -> Category:
    """The category of an HTTP status from 400 on."""
    return _BY_STATUS.get(status, "invalid" if status < 500 else "server")
