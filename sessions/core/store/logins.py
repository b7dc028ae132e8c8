"""Which browsers' logins were ended, for as long as their cookies would be good."""

from __future__ import annotations

from sessions.core.models import EndedLogin


def end(login_id: str, at: float, oldest: float) -> None:
    """Write an end down, at Unix time `at`; those before `oldest` are forgotten."""
    EndedLogin.objects.filter(time_ended__lt=oldest).delete()
    EndedLogin.objects.update_or_create(id=login_id, defaults={"time_ended": at})


def ended() -> list[tuple[str, float]]:
    """Ids of logins, and when they were ended."""
    return list(EndedLogin.objects.values_list("id", "time_ended"))
