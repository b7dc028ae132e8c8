"""Questions to the person (OpenCode's QuestionRequest)."""

from __future__ import annotations

from django.utils.translation import gettext
from pydantic import Field

from .base import SessionID, Wire
from .session import ToolRef


class QuestionOption(Wire):
    label: str
    description: str = ""


class QuestionInfo(Wire):
    """`header` is a short label; `custom` (default true) allows an answer in own words."""

    question: str
    header: str
    options: list[QuestionOption]
    multiple: bool | None = None
    custom: bool | None = None

    def fault_of(self, answer: list[str]) -> str:
        """Why this is no answer, for the person who gave it; empty when it is one."""
        labels = {option.label for option in self.options}
        if self.custom is False and (unknown := [text for text in answer if text not in labels]):
            return gettext("%(unknown)s is not among the options of %(header)s.") % {
                "unknown": repr(unknown[0]),
                "header": repr(self.header),
            }
        if not self.multiple and len(answer) > 1:
            return gettext("%(header)s takes one answer.") % {"header": repr(self.header)}
        return ""


class QuestionRequestInfo(Wire):
    id: str
    session_id: SessionID
    questions: list[QuestionInfo]
    tool: ToolRef | None = Field(default=None)
