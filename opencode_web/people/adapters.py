"""What of django-allauth is done in our way."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]  # it has no types
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """People are invited."""
        return False

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        return str(settings.LOGIN_REDIRECT_URL)

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("you")
