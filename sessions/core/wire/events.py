"""Events as `/event` and `/global/event` send them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .base import Wire


class EventFrame(Wire):
    """What happened, and to what; `properties` depend on the type."""

    id: str
    type: str
    properties: dict[str, Any] = Field(default_factory=dict)


class GlobalFrame(Wire):
    """The same with the folder and the project that it concerns, if it does."""

    directory: str | None = None
    project: str | None = None
    payload: EventFrame


class AppendText(Wire):
    text: str


class ExecuteCommand(Wire):
    command: str


class Toast(Wire):
    """`duration` is in milliseconds."""

    message: str
    variant: Literal["info", "success", "warning", "error"]
    title: str | None = None
    duration: int = Field(default=5000, gt=0)


class SelectSession(Wire):
    session_id: str = Field(alias="sessionID", pattern="^ses")


class AppendEvent(Wire):
    type: Literal["tui.prompt.append"]
    properties: AppendText


class CommandEvent(Wire):
    type: Literal["tui.command.execute"]
    properties: ExecuteCommand


class ToastEvent(Wire):
    type: Literal["tui.toast.show"]
    properties: Toast


class SelectEvent(Wire):
    type: Literal["tui.session.select"]
    properties: SelectSession


TuiEvent = Annotated[AppendEvent | CommandEvent | ToastEvent | SelectEvent, Field(discriminator="type")]


class ControlRequest(Wire):
    """What a terminal client that asks for its next order is given: the operation's path and body."""

    path: str
    body: Any
