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


# How a sign-in comes to nothing. The texts are for people and hold no secret.


class SignInFailed(Exception):
    """It came to nothing."""


class NotAsked(SignInFailed):
    """The server does not ask for a sign-in."""


class NoClient(SignInFailed):
    """The authorization server registers no clients by itself, and the configuration names none."""


class Unfit(SignInFailed):
    """An address that we are sent to and do not ask."""


class Unreachable(SignInFailed):
    """There is no answer, or none that can be used: later there may be."""


class Ended(SignInFailed):
    """The authorization server does not renew this sign-in."""
