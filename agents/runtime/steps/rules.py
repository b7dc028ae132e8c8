"""Which permission rules a call of this turn meets: the agent's, the demo's caution, the session's own."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from agents.config import Config
from agents.definitions import Agent
from agents.llm.types import Model
from agents.permission.defaults import guarded
from agents.permission.planning import plan_rules
from agents.permission.rules import Floor, Rule, configured
from agents.plans import PLAN
from sessions.models import Session

DEMO = (Floor("edit", "*", "ask"), Floor("bash", "*", "ask"))
"""The scripted demo shows what asking looks like, whatever the defaults allow; what is denied stays so."""


def effective_rules(agent: Agent, model: Model, session: Session, config: Config) -> list[Rule]:
    own = [Rule(rule["permission"], rule["pattern"], rule["action"]) for rule in session.permission]
    demo = DEMO if model.protocol == "scripted" else ()
    plans = Path(settings.PLAN_DIR)
    reachable = Rule("external_directory", f"{plans}/*", "allow")
    return [*demo, *agent.permission, reachable, *guarded(own), *_planning(agent, config, plans)]


def _planning(agent: Agent, config: Config, plans: Path) -> list[Rule]:
    """Plan mode's, and after them what the user allows to the plan agent by name."""
    if agent.name != PLAN:
        return []
    named = config.agent.get(PLAN)
    return [*plan_rules(plans), *guarded(configured(named.permission if named and named.permission else {}))]
