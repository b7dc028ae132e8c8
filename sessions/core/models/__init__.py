"""The rows. Only `sessions.core.store` writes them."""

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
from .events import Event
from .keys import ChosenKeys
from .ledger import FileChange, Operation
from .logins import EndedLogin
from .permissions import Decision, PermissionRequest, SavedRule
from .problems import FileProblems
from .programs import OwnProgram
from .project import Project
from .questions import QuestionRequest
from .review import ReviewComment, ReviewMark, StagedFile
from .snippets import Snippet

__all__ = [
    "Admission",
    "AdmittedPrompt",
    "ChosenKeys",
    "ContextEpoch",
    "ContextMessage",
    "Decision",
    "EndedLogin",
    "Event",
    "FileChange",
    "FileProblems",
    "Message",
    "Operation",
    "OwnProgram",
    "Part",
    "PermissionRequest",
    "Project",
    "QuestionRequest",
    "Resumption",
    "ReviewComment",
    "ReviewMark",
    "SavedRule",
    "Session",
    "Snippet",
    "StagedFile",
    "Switch",
    "Todo",
]
