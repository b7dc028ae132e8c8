"""The rows. Only `sessions.core.store` writes them."""

from .comparisons import Attempt, Comparison
from .conversation import (
    Admission,
    AdmittedPrompt,
    ContextEpoch,
    ContextMessage,
    Message,
    Part,
    Resumption,
    Session,
    Switch,
    Todo,
)
from .devices import Device
from .events import Event
from .goals import Goal, Verdict
from .keys import ChosenKeys
from .knowledge import ProjectAction, ProjectNote
from .labels import Label
from .ledger import FileChange, Operation
from .logins import EndedLogin
from .notifiers import Delivery, Notifier
from .permissions import Decision, PermissionRequest, SavedRule
from .pins import Pin
from .problems import FileProblems
from .programs import OwnProgram
from .project import Project
from .provider_keys import Payment, ProviderKey
from .questions import QuestionRequest
from .review import ReviewComment, ReviewMark, StagedFile, Tour
from .schedules import Occurrence, Schedule
from .searches import SavedSearch, SavedView
from .session_folders import SessionFolder
from .snippets import Snippet
from .spending import Spending

__all__ = [
    "Admission",
    "AdmittedPrompt",
    "Attempt",
    "ChosenKeys",
    "Comparison",
    "ContextEpoch",
    "ContextMessage",
    "Decision",
    "Delivery",
    "Device",
    "EndedLogin",
    "Event",
    "FileChange",
    "FileProblems",
    "Goal",
    "Label",
    "Message",
    "Notifier",
    "Occurrence",
    "Operation",
    "OwnProgram",
    "Part",
    "Payment",
    "PermissionRequest",
    "Pin",
    "Project",
    "ProjectAction",
    "ProjectNote",
    "ProviderKey",
    "QuestionRequest",
    "Resumption",
    "ReviewComment",
    "ReviewMark",
    "SavedRule",
    "SavedSearch",
    "SavedView",
    "Schedule",
    "Session",
    "SessionFolder",
    "Snippet",
    "Spending",
    "StagedFile",
    "Switch",
    "Todo",
    "Tour",
    "Verdict",
]
