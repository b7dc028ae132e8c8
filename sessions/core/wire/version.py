"""Which protocol is spoken."""

from __future__ import annotations

VERSION = "1.18.33"
"""As OpenCode numbers it."""
