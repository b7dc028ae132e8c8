"""The guard around everything the server answers: rules 1-7, 10, 16 and 17 of peers.md."""

from opencode_web.security.guard import Guard
from opencode_web.security.policy import Policy

__all__ = ["Guard", "Policy"]
