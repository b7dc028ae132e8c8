"""The rows. Only `sessions.core.store` writes them."""

from .context import ContextEpoch, ContextMessage
from .conversation import Message, Part, Session, Todo
from .events import Event
from .inbox import Admission, AdmittedPrompt
from .ledger import FileChange, Operation
from .logins import EndedLogin
from .permissions import Decision, PermissionRequest, SavedRule
from .problems import FileProblems
from .project import Project
from .questions import QuestionRequest
from .resumption import Resumption
from .review import ReviewComment, ReviewMark, StagedFile
from .switches import Switch

__all__ = [
    "Admission",
    "AdmittedPrompt",
    "ContextEpoch",
    "ContextMessage",
    "Decision",
    "EndedLogin",
    "Event",
    "FileChange",
    "FileProblems",
    "Message",
    "Operation",
    "Part",
    "PermissionRequest",
    "Project",
    "QuestionRequest",
    "Resumption",
    "ReviewComment",
    "ReviewMark",
    "SavedRule",
    "Session",
    "StagedFile",
    "Switch",
    "Todo",
]
