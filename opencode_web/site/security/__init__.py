"""The guard around everything the server answers: rules 1-7, 10, 16 and 17 of docs/security.md."""

from opencode_web.site.security.guard import FAVICON, STATIC, Guard
from opencode_web.site.security.policy import Policy

__all__ = ["FAVICON", "STATIC", "Guard", "Policy"]
