"""Propose a change of files and wait for the yes; if a file changes meanwhile, propose anew."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from agents.toolkit.base import Approval, ToolContext, ToolError
from agents.toolkit.permission.errors import Outdated

ROUNDS = 5
"""How often a change is proposed anew before the call gives up."""

Planned = TypeVar("Planned")

_planners = ThreadPoolExecutor(2, "plan")
"""Apart from the threads that every tool goes through: a search for what is not there takes its time, also
after a stop."""


async def allowed(
    ctx: ToolContext,
    patterns: Sequence[str],
    plan: Callable[[], Planned],
    describe: Callable[[Planned], Mapping[str, Any]],
    outdated: Callable[[Planned], bool],
) -> tuple[Planned, Approval]:
    """What was allowed at last, and how.

    `plan` works out the change from the files as they are, `describe` gives the metadata of the request (with
    `again` from the second time on), `outdated` tells whether the files are no longer what the plan was made
    from; all three may block. Raises what `plan` raises, PermissionDenied, PermissionRejected, and ToolError
    when the files do not come to rest.
    """
    for number in range(ROUNDS):
        planned = await _in_pool(_plan, plan, bool(number))
        metadata = dict(await asyncio.to_thread(describe, planned))
        if number:
            metadata["again"] = number
        try:
            approval = await ctx.ask(
                "edit",
                patterns,
                always=["*"],
                metadata=metadata,
                outdated=lambda planned=planned: _is_outdated(outdated, planned),  # type: ignore[misc]
            )
        except Outdated:
            continue
        return planned, approval
    raise ToolError(
        f"Nothing was changed: the file changed {ROUNDS} times while this waited for approval. Read it again."
    )


async def _in_pool(function: Callable[..., Planned], *arguments: Any) -> Planned:
    run = copy_context().run
    return await asyncio.get_running_loop().run_in_executor(_planners, run, function, *arguments)


def _plan(plan: Callable[[], Planned], again: bool) -> Planned:
    try:
        return plan()
    except ToolError as error:
        if not again:
            raise
        words = "The file changed while this edit waited for approval, and the edit no longer fits."
        raise ToolError(f"{words} Nothing was changed by it. {error}") from error


def _is_outdated(outdated: Callable[[Planned], bool], planned: Planned) -> bool:
    try:
        return outdated(planned)
    except ToolError:  # it cannot be read any more; planning anew says why
        return True
