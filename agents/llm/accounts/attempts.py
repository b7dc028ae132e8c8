"""Sign-ins that wait for a person: in memory, one for each provider, over after their time.

They belong to the loop of the web server, where they begin, are asked about and cancelled.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agents.llm.accounts import keeping
from agents.llm.accounts.flows.base import Begun, InvalidInput, Method, SignInFailed
from agents.llm.accounts.methods import check
from sessions.core.ids import ascending, now
from sessions.core.sentences import Sentence, sentence_of

logger = logging.getLogger(__name__)

Status = Literal["pending", "complete", "failed", "expired"]


@dataclass(slots=True)
class Attempt:
    """`created` and `expires` are in milliseconds; `message` says why it failed."""

    id: str
    provider_id: str
    method: Method
    begun: Begun
    created: int
    expires: int
    status: Status = "pending"
    message: str = ""
    task: asyncio.Task[None] | None = None


_attempts: dict[str, Attempt] = {}
"""By provider."""


async def begin(provider_id: str, method: Method, inputs: Mapping[str, str], label: str = "") -> Attempt:
    """Begin a sign-in in the place of one that waits already. Raises InvalidInput and SignInFailed."""
    check(method, inputs)
    await cancel(provider_id)
    begun = await method.begin(inputs)
    created = now()
    attempt = Attempt(
        ascending("con"), provider_id, method, begun, created, created + int(begun.seconds * 1000)
    )
    if (other := _attempts.pop(provider_id, None)) is not None:  # begun while we asked the provider
        _stop(other)
    _attempts[provider_id] = attempt
    attempt.task = asyncio.create_task(_wait(attempt, label))
    attempt.task.add_done_callback(lambda _: begun.close())
    return attempt


def of_provider(provider_id: str) -> Attempt | None:
    """The newest sign-in begun at a provider, whatever became of it."""
    return _attempts.get(provider_id)


def pending() -> dict[str, Attempt]:
    """Those that wait for a person, by provider."""
    return {name: attempt for name, attempt in _attempts.items() if attempt.status == "pending"}


def named(attempt_id: str) -> Attempt | None:
    return next((attempt for attempt in _attempts.values() if attempt.id == attempt_id), None)


async def finish(attempt: Attempt) -> None:
    """Wait until the person is done; what came of it is told once. Raises SignInFailed."""
    if attempt.task is not None:
        await asyncio.wait({attempt.task})
    if _attempts.get(attempt.provider_id) is attempt:
        del _attempts[attempt.provider_id]
    if attempt.status != "complete":
        raise SignInFailed(attempt.message or Sentence("The sign-in was cancelled."))


async def cancel(provider_id: str) -> None:
    """Wait no longer; nothing happens where nobody waits."""
    attempt = _attempts.pop(provider_id, None)
    if attempt is not None and (task := _stop(attempt)):
        await asyncio.wait({task})


def _stop(attempt: Attempt) -> asyncio.Task[None] | None:
    if attempt.task is not None:
        attempt.task.cancel()
    return attempt.task


async def _wait(attempt: Attempt, label: str) -> None:
    """Keep what the sign-in gives, or note why it gave nothing."""
    try:
        async with asyncio.timeout(attempt.begun.seconds):
            entry = {"provider": attempt.provider_id, **await attempt.begun.finish()}
        await keeping.keep(entry.pop("provider"), entry, label)
        attempt.status = "complete"
    except TimeoutError:
        attempt.status, attempt.message = (
            "expired",
            Sentence("The time for this sign-in is over. Begin again."),
        )
    except (SignInFailed, InvalidInput) as error:
        attempt.status, attempt.message = "failed", sentence_of(error)
    except asyncio.CancelledError:
        attempt.status, attempt.message = "failed", Sentence("The sign-in was cancelled.")
        raise
    except Exception:
        logger.exception("signing in to %s", attempt.provider_id)
        attempt.status, attempt.message = "failed", Sentence("The sign-in failed; the log says why.")
