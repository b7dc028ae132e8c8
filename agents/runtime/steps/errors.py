"""The wire's error of what ended a provider turn."""

from __future__ import annotations

from agents.llm.types import AuthFailed, ContextOverflow, ModelError
from sessions.wire.base import NamedError


def named(error: Exception) -> NamedError:
    """As OpenCode names it."""
    if isinstance(error, ContextOverflow):
        return NamedError(name="ContextOverflowError", data={"message": error.message})
    if isinstance(error, AuthFailed):
        return NamedError(name="ProviderAuthError", data={"message": error.message, "providerID": ""})
    if isinstance(error, ModelError):
        data = {"message": error.message, "statusCode": error.status, "isRetryable": error.retryable}
        known = {key: value for key, value in data.items() if value is not None}
        return NamedError(name="APIError", data=known)
    return NamedError(name="UnknownError", data={"message": str(error)})
