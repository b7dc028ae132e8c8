"""What all sockets of browsers have in common."""

from __future__ import annotations

HEARTBEAT = 10.0
"""Seconds without a frame after which an empty one is sent."""

FRAME_TIME = 0.016
"""Seconds between two frames: the first of a burst goes at once, the rest is gathered."""

NOT_FOUND, UNAUTHORISED = 4404, 4401
