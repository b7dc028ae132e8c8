"""The loopback address that a browser is sent back to with the code of one sign-in."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping

from agents.accounts.flows.base import SignInFailed
from agents.accounts.flows.loopback import Loopback, Said

PATH = "/auth/callback"


class Redirect:
    """Waits for one redirect whose `state` is ours; any other is answered and forgotten."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._code: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._loopback = Loopback(PATH, self._answer)

    async def listen(self, port: int) -> None:
        """Raises OSError when the port is taken."""
        await self._loopback.listen(port)

    async def code(self) -> str:
        """The code, once. Raises SignInFailed with what the provider said instead."""
        return await self._code

    def close(self) -> None:
        self._loopback.close()
        self._code.cancel()

    async def _answer(self, given: Mapping[str, str]) -> Said:
        """Takes the code out of the right one."""
        if not secrets.compare_digest(given.get("state", "").encode(), self._state.encode()):
            return Said("400 Bad Request", "Not signed in", "This does not belong to a sign-in that waits.")
        if self._code.done():
            return Said("400 Bad Request", "Already used", "This address works once. Begin again.")
        if code := given.get("code", ""):
            self._code.set_result(code)
            text = "opencode-web shows whether the sign-in worked."
            return Said("200 OK", "You can close this tab", text)
        reason = given.get("error_description") or given.get("error") or "no code came back"
        self._code.set_exception(SignInFailed(f"The sign-in was refused: {reason[:300]}"))
        return Said("200 OK", "Not signed in", "The sign-in was refused. You can close this tab.")
