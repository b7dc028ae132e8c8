from __future__ import annotations

from django.apps import apps
from django.db.models import ForeignKey

from opencode_web.nodes.rows import COPIED
from sessions.core.models import (
    Attempt,
    Comparison,
    Occurrence,
    Project,
    ProjectAction,
    ProjectNote,
    SavedRule,
    Schedule,
    Session,
    SessionFolder,
)
from sessions.core.models.problems import FileProblems

BEHIND = {
    *(SavedRule, SessionFolder, FileProblems, Project, Schedule, Occurrence, Comparison, Attempt),
    *(ProjectNote, ProjectAction),
}
"""What a machine allows, where a person put things in its list, what its programs found, what it does by
itself, what it compared, what people keep beside the project there."""


def test_all_that_is_of_a_conversation_is_copied() -> None:
    """A column that names what is not copied has to be another thing at the other machine."""
    copied = set(COPIED)
    for model in apps.get_app_config("opencode_sessions").get_models():
        for field in model._meta.concrete_fields:
            if not isinstance(field, ForeignKey):
                continue
            target = field.related_model
            if target in copied | {Session, Project} and model not in BEHIND:
                assert model in copied, f"{model.__name__} is of a conversation"
            if model in copied and (target not in copied or field.null):
                changed = COPIED[model][1]
                own_session = field.name in ("session", "message")
                assert own_session or field.column in changed, f"{model.__name__}.{field.name}"
