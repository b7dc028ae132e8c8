"""Who makes a request, as the guard has found out."""

from __future__ import annotations

from django.http import HttpRequest


def actor(request: HttpRequest) -> str:
    """Who acts, for logs: the kind of login, and for a browser which; empty where no guard stands before."""
    principal = getattr(request, "scope", {}).get("principal") or {}
    kind = "browser" if principal.get("kind") == "cookie" else str(principal.get("kind") or "")
    login = str(principal.get("session") or "")[:6]
    return f"{kind} {login}".strip()
