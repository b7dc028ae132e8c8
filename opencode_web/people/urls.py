"""Signing in below `/login`, one's own page below `/you`, the page of all people below `/people`."""

from __future__ import annotations

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from django.conf import settings
from django.urls import URLPattern, path, re_path
from django.views.generic import RedirectView

from opencode_web.people import pages

_to_sign_in = RedirectView.as_view(pattern_name="account_login")

urlpatterns: list[URLPattern] = [
    path("login", account.login, name="account_login"),
    path("login/inactive", account.account_inactive, name="account_inactive"),
    path("login/second", mfa.authenticate, name="mfa_authenticate"),
    path("login/back", account.logout, name="account_logout"),
    path("login/again", _to_sign_in, name="account_signup"),  # there is no sign-up; allauth names it
    path("login/lost", _to_sign_in, name="account_reset_password"),
    path("login/password/set", _to_sign_in, name="account_reset_password_from_key_done"),
    re_path(
        r"^login/password/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        account.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("you/", pages.you, name="you"),
    path("you/again", account.reauthenticate, name="account_reauthenticate"),
    path("you/again/second", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("you/password", account.password_change, name="account_change_password"),
    path("you/password/first", account.password_set, name="account_set_password"),
    path("you/second", mfa.index, name="mfa_index"),
    path("you/second/begin", totp.activate_totp, name="mfa_activate_totp"),
    path("you/second/end", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("you/second/codes", recovery_codes.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "you/second/codes/new",
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path(
        "you/second/codes/file",
        recovery_codes.download_recovery_codes,
        name="mfa_download_recovery_codes",
    ),
    path("you/token", pages.make_token, name="make-token"),
    path("you/token/remove", pages.remove_token, name="remove-token"),
    path("you/sign-out", pages.end_sign_in, name="end-sign-in"),
    path("you/device", pages.add_device, name="add-sign-in"),
    path("people/", pages.people, name="people"),
    path("people/invite", pages.invite, name="invite"),
    path("people/sheet/<str:here>/<str:everywhere>.css", pages.role_sheet, name="role-sheet"),
    path("people/<uuid:person_id>", pages.change, name="change-person"),
    path("people/<uuid:person_id>/link", pages.link, name="person-link"),
    path("people/<uuid:person_id>/project", pages.change_in_project, name="person-project"),
    path("people/<uuid:person_id>/token", pages.remove_token_of, name="person-token"),
    path("people/<uuid:person_id>/sign-out", pages.end_sign_in_of, name="person-sign-out"),
]
if settings.OIDC:
    from opencode_web.people import oidc  # with packages that are there for an issuer alone

    urlpatterns += [
        path("login/by", oidc.begin, name="openid_connect_login"),
        path("login/by/back", oidc.finish, name="openid_connect_callback"),
        path("login/by/not", _to_sign_in, name="socialaccount_login_cancelled"),
        path("you/unlink", pages.unlink, name="unlink-account"),
    ]
