"""Why a tool call was not allowed. The text of each error goes to the model as it stands."""

from __future__ import annotations

from agents.toolkit.permission.rules import Rule


class NotPermitted(Exception):
    """A tool call stopped by a rule or by the user."""


class PermissionDenied(NotPermitted):
    """A rule denies it; nobody was asked. `rule` is the rule that decided; the call was one of `tool` by
    `agent`, for the permission that was asked for: what of them is known is told."""

    def __init__(self, rule: Rule, *, permission: str = "", tool: str = "", agent: str = "") -> None:
        self.rule = rule
        call = f"this call of {tool}" if tool else "this call"
        whose = f" for the agent {agent}" if agent else ""
        super().__init__(
            f"The permission rules of this session deny {call}: "
            f'{permission or rule.permission} is denied for "{rule.pattern}"{whose}. '
            f"Do not look for another way around the rule; do the task without it or say what is missing."
        )


class PermissionRejected(NotPermitted):
    """The user said no. `message` holds the user's own words, empty when there were none."""

    def __init__(self, message: str = "") -> None:
        self.message = message.strip()
        if self.message:
            text = f"The user rejected this call and said: {self.message}"
        else:
            text = "The user rejected this call. Do not repeat it; ask what they want instead."
        super().__init__(text)


class QuestionRejected(PermissionRejected):
    """The user dismissed a question: what comes next is up to them."""

    def __str__(self) -> str:
        return (
            "The user dismissed the question without an answer. Do not ask it again and do not guess: "
            "wait for what they say next."
        )


class Outdated(Exception):
    """What was asked about is no longer so: the request was withdrawn, and the call has to ask anew."""
