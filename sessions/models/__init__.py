"""The rows (seed 001). Only `sessions.store` writes them (design law 2)."""

from .conversation import Message, Part, Session, Todo
from .events import Event
from .inbox import AdmittedPrompt
from .ledger import FileChange, Operation
from .permissions import PermissionRequest, SavedRule
from .project import Project

__all__ = [
    "AdmittedPrompt",
    "Event",
    "FileChange",
    "Message",
    "Operation",
    "Part",
    "PermissionRequest",
    "Project",
    "SavedRule",
    "Session",
    "Todo",
]
