"""What an operation answers, said beside it: `/doc` reads it, a request costs nothing by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Answer:
    """`type` is what pydantic can describe (a model, `list[Model]`, `bool`), None for an empty answer;
    `errors` are the statuses it may have beside 400 and 401."""

    type: Any
    status: int
    media: str
    errors: tuple[int, ...]


def answers(
    type: Any = None, status: int = 200, *, media: str = "application/json", errors: tuple[int, ...] = ()
) -> Callable[[View], View]:
    """Say what a view answers; it stands under the router's decorator.

    `@router.get("", operation_id="session.list")` then `@answers(list[SessionInfo])`. The answer itself is
    made by `wire` from what was validated when it was written, so it is not validated a second time.
    """

    def decorate(view: View) -> View:
        view.answer = Answer(type, status, media, errors)  # type: ignore[attr-defined]
        return view

    return decorate
