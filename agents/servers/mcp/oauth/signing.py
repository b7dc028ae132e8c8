"""Signing in and out at a remote MCP server. Everything here may be used on any loop."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from agents.servers.mcp.errors import NotAsked, SignInFailed
from agents.servers.mcp.hub import hub
from agents.servers.mcp.oauth import attempts, store
from agents.servers.mcp.oauth.attempts import SECONDS, Answer, Attempt, attempt_of
from agents.servers.mcp.oauth.settings import Back, back, configured, reason_against
from agents.servers.mcp.server import Server
from agents.toolkit.children.loop import background
from sessions.core.files import BrokenFile
from sessions.core.sentences import Sentence, sentence_of
from sessions.rendering.html import html

if TYPE_CHECKING:
    from agents.servers.mcp.oauth.flow import Flow
from collections.abc import Mapping
from types import TracebackType

from agents.llm.accounts.flows.loopback import Loopback, Said
from agents.servers.mcp.oauth.attempts import arrived

__all__ = ["SECONDS", "Attempt", "NotAsked", "SignInFailed", "attempt_of", "reason_against"]

logger = logging.getLogger(__name__)

_BEGIN_SECONDS = 60.0
"""For the address to be known."""


async def begin(server: Server, origin: str) -> Attempt:
    """Begin a sign-in in the place of one that waits already; its `url` is for the person's browser.

    `origin` is where the person reaches this server, as `http://127.0.0.1:4096`; empty: they do not.
    Raises SignInFailed; NotAsked when the server asks for none.
    """
    if reason := reason_against(server):
        raise SignInFailed(reason)
    return await background.ask(_begin(server, back(server, origin)))


async def finish(attempt: Attempt) -> None:
    """Wait until the person is done. Raises SignInFailed with what came of it."""
    await background.ask(_finish(attempt))


def hand_over(attempt: Attempt, code: str) -> None:
    """A client that is logged in here has got the code."""
    attempts.leave(attempt)
    attempt.settle(Answer(code, attempt.state, by_browser=False))


async def cancel(server: Server) -> None:
    """Wait no longer; nothing happens where nobody waits."""
    if attempt := attempts.drop(server):
        await background.ask(_stop(attempt))
        hub.tell(server)


async def sign_out(server: Server) -> bool:
    """Forget the tokens and connect without; whether there were any. Raises SignInFailed."""
    await cancel(server)
    try:
        forgotten = await asyncio.to_thread(store.forget, server)
    except (BrokenFile, OSError) as error:
        raise SignInFailed(
            Sentence("The file of sign-ins cannot be changed: %(error)s", error=error)
        ) from error
    if forgotten:
        await hub.again(server)
    return forgotten


async def signed_in(server: Server) -> bool:
    return await asyncio.to_thread(store.kept, server) is not None


async def described(server: Server) -> list[str]:
    """The authorization server of a server, line by line, for people. On the background loop."""
    flow = await asyncio.to_thread(_flow)
    try:
        found = await flow(server, configured(server)).look()
    except SignInFailed as error:
        return [sentence_of(error)]
    return list(found.lines())


async def _begin(server: Server, where: Back) -> Attempt:
    loop = asyncio.get_running_loop()
    attempt = Attempt(server, loop.create_future(), loop.create_future())
    if before := attempts.put(attempt):
        await _stop(before)
    attempt.task = asyncio.create_task(_run(attempt, where), name=f"sign in {server.name}")
    both = {attempt.shown, attempt.task}
    await asyncio.wait(both, timeout=_BEGIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    hub.tell(server)
    if not attempt.shown.done():
        late = SignInFailed(Sentence("The server did not say in time where one signs in."))
        attempt.fail(late)
        await _stop(attempt)
        raise attempt.error or late
    return attempt


async def _finish(attempt: Attempt) -> None:
    if attempt.task is not None:
        await asyncio.wait({attempt.task})
    if attempt.error is not None:
        raise attempt.error


async def _stop(attempt: Attempt) -> None:
    if attempt.task is not None:
        attempt.task.cancel()
        await asyncio.wait({attempt.task})


async def _run(attempt: Attempt, where: Back) -> None:
    """Keep what the sign-in gives, or note why it gave nothing."""
    try:
        async with asyncio.timeout(SECONDS), Listener(where) as redirect:
            await _sign_in(attempt, redirect)
        attempt.status = "complete"
        await hub.again(attempt.server)
    except TimeoutError:
        attempt.fail(SignInFailed(Sentence("The time for this sign-in is over. Begin again.")), "expired")
    except SignInFailed as error:
        attempt.fail(error)
    except asyncio.CancelledError:
        attempt.fail(SignInFailed(Sentence("The sign-in was cancelled.")))
        raise
    except (BrokenFile, OSError) as error:
        attempt.fail(SignInFailed(Sentence("The file of sign-ins cannot be changed: %(error)s", error=error)))
    except Exception:
        logger.exception("signing in to the MCP server %s", attempt.server.name)
        attempt.fail(SignInFailed(Sentence("The sign-in failed; the log says why.")))
    finally:
        attempts.leave(attempt)
        hub.tell(attempt.server)


async def _sign_in(attempt: Attempt, redirect: str) -> None:
    """Raises SignInFailed, and as `store.keep` does."""
    server = attempt.server
    flow = await asyncio.to_thread(_flow)

    async def show(url: str) -> None:
        attempt.show(url, parse_qs(urlsplit(url).query)["state"][-1])

    async def wait() -> Answer:
        return await attempt.answer

    kept = await flow(server, configured(server), redirect).sign_in(show, wait, attempts.noted_scope(server))
    await asyncio.to_thread(store.keep, server, kept)


def _flow() -> type[Flow]:
    """Loaded with the first sign-in: the SDK takes half a second."""
    from agents.servers.mcp.oauth.flow import Flow

    return Flow


# `GET /mcp/oauth/callback`: the page that an authorization server sends the person's browser back to.
#
# It comes from another site and therefore without our cookie (SameSite=Strict); the guard lets it pass, and
# the
# secret `state` in its query is what opens it, once.


@require_GET
async def callback(request: HttpRequest) -> HttpResponse:
    said = await came_back({name: str(value) for name, value in request.GET.items()})
    response = HttpResponse(html("mcp/oauth/callback.html", said=said), status=int(said.status[:3]))
    response["Cache-Control"] = "no-store"
    return response


_SECONDS = 60.0
"""That the browser waits to be told how it ended."""
UNKNOWN = Said(
    "404 Not Found",
    Sentence("This belongs to no sign-in"),
    Sentence("It was used already, or five minutes have passed. Begin the sign-in again."),
)


class Listener:
    """Within it a browser is waited for; gives the address to name to the authorization server."""

    def __init__(self, where: Back) -> None:
        self._where = where
        self._loopback = Loopback(where.path, came_back)

    async def __aenter__(self) -> str:
        """Raises SignInFailed when the port is taken."""
        if self._where.port is None:
            return self._where.url
        try:
            port = await self._loopback.listen(self._where.port)
        except (OSError, OverflowError) as error:
            raise SignInFailed(
                Sentence(
                    "Port %(port)s, where the browser is to come back to, cannot be used: %(error)s",
                    port=self._where.port,
                    error=error,
                )
            ) from error
        return self._where.url if self._where.port else _with_port(self._where.url, port)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loopback.close()


async def came_back(query: Mapping[str, str]) -> Said:
    """What the person is told, once the sign-in that the query belongs to has ended."""
    attempt = arrived(query)
    if attempt is None:
        return UNKNOWN
    if attempt.task is not None:
        done = asyncio.run_coroutine_threadsafe(_ended(attempt.task), attempt.answer.get_loop())
        await asyncio.wrap_future(done)
    if attempt.status == "complete":
        text = Sentence(
            "You are signed in to the MCP server %(server)s. You can close this tab.",
            server=attempt.server.name,
        )
        return Said("200 OK", Sentence("Signed in"), text)
    words = attempt.message or Sentence("opencode-web shows how it ends.")
    return Said("200 OK", Sentence("Not signed in"), Sentence("%(text)s You can close this tab.", text=words))


async def _ended(task: asyncio.Task[None]) -> None:
    await asyncio.wait({task}, timeout=_SECONDS)


def _with_port(url: str, port: int) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{parts.hostname}:{port}").geturl()
