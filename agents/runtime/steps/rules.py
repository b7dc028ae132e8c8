"""Which permission rules a call of this turn meets: the agent's, the demo's caution, the session's own."""

from __future__ import annotations

from agents.definitions import Agent
from agents.llm.types import Model
from agents.permission.defaults import guarded
from agents.permission.rules import Rule
from sessions.models import Session

DEMO = (Rule("edit", "*", "ask"), Rule("bash", "*", "ask"))
"""The scripted demo shows what asking looks like, whatever the defaults allow."""


def effective_rules(agent: Agent, model: Model, session: Session) -> list[Rule]:
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in session.permission]
    demo = DEMO if model.protocol == "scripted" else ()
    return [*agent.permission, *demo, *guarded(own)]
