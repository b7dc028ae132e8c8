"""What goes wrong with an MCP server, in words for people and for the model."""

from __future__ import annotations


class ServerFailed(Exception):
    """The server is gone, did not answer in time, or answered with an error."""


class Refusal(Exception):
    """The server wants a person to do something first: it is not tried again until they did."""


class NeedsAuth(Refusal):
    """Somebody has to sign in."""


class NeedsRegistration(Refusal):
    """The authorization server registers no clients by itself: the configuration has to name one."""
