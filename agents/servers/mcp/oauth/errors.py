"""How a sign-in comes to nothing. The texts are for people and hold no secret."""

from __future__ import annotations


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
