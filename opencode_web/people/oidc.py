"""Signing in at an issuer of OpenID Connect, by django-allauth; what it leaves open is decided here: the
token is checked by its signature and its nonce, and only people who are here already come in
(docs/decisions/0057)."""

from __future__ import annotations

import hmac
import logging
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import jwt
from allauth.account.internal.decorators import login_not_required
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.helpers import render_authentication_error
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from requests import RequestException

from opencode_web.people.models import Person
from opencode_web.people.store import ISSUER
from opencode_web.team import Issuer

logger = logging.getLogger(__name__)

_SIGNED_BY = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_CLAIMS = ["iss", "aud", "exp", "iat", "sub"]
_LEEWAY_SECONDS = 30
"""By which the issuer's clock may differ."""


def _issuer() -> Issuer:
    found = settings.OIDC
    assert found is not None, "this is loaded where there is an issuer"
    return found


def _nonce(verifier: str) -> str:
    """Of the secret that the browser's session has for one sign-in (RFC 7636): a token made for another one
    has another nonce."""
    return urlsafe_b64encode(sha256(b"nonce " + verifier.encode()).digest()).decode().rstrip("=")


class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # it has no types
    """Raises OAuth2Error for what the issuer answers wrongly."""

    _verifier = ""

    @property
    def openid_config(self) -> dict[str, Any]:
        """What the issuer says of itself has to be about itself (OpenID Connect Discovery §4.3)."""
        config: dict[str, Any] = super().openid_config
        if str(config.get("issuer", "")).rstrip("/") != _issuer().address.rstrip("/"):
            raise OAuth2Error("the issuer calls itself otherwise")
        return config

    def get_callback_url(self, request: HttpRequest, app: Any) -> str:
        return request.build_absolute_uri(reverse("openid_connect_callback"))

    def get_access_token_data(
        self, request: HttpRequest, app: Any, client: Any, pkce_code_verifier: str | None = None
    ) -> Any:
        self._verifier = pkce_code_verifier or ""
        return super().get_access_token_data(request, app, client, pkce_code_verifier)

    def complete_login(self, request: HttpRequest, app: Any, token: Any, **given: Any) -> Any:
        """Who signed in, as the token says, and their addresses, as the issuer does."""
        claims = self._decode_id_token(app, str(given["response"].get("id_token") or ""))
        said = self._fetch_user_info(token.token) if "userinfo_endpoint" in self.openid_config else claims
        if said.get("sub") != claims["sub"]:
            raise OAuth2Error("what the issuer says is about somebody else")
        return self.get_provider().sociallogin_from_response(request, {"userinfo": said})

    def _decode_id_token(self, app: Any, id_token: str) -> dict[str, Any]:
        """Its claims, when it was made by the issuer, for us and for this sign-in, and is good still (OpenID
        Connect Core §3.1.3.7)."""
        config = self.openid_config
        with get_adapter().get_requests_session() as session:
            answer = session.get(config["jwks_uri"])
            answer.raise_for_status()
        try:
            name = jwt.get_unverified_header(id_token).get("kid")
            keys = jwt.PyJWKSet.from_dict(answer.json()).keys
            key = next((one for one in keys if name is None or one.key_id == name), None)
            if key is None:
                raise OAuth2Error("the token is signed by a key that the issuer does not have")
            claims: dict[str, Any] = jwt.decode(
                id_token,
                key=key.key,
                algorithms=_SIGNED_BY,
                issuer=config["issuer"],
                audience=app.client_id,
                leeway=_LEEWAY_SECONDS,
                options={"require": _CLAIMS},
            )
        except (jwt.PyJWTError, TypeError, ValueError) as error:
            raise OAuth2Error("the token is not good") from error
        if claims.get("azp", app.client_id) != app.client_id:
            raise OAuth2Error("the token is for somebody else")
        if not self._verifier or not hmac.compare_digest(str(claims.get("nonce")), _nonce(self._verifier)):
            raise OAuth2Error("the token is of another sign-in")
        return claims


class Provider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = Adapter

    def get_pkce_params(self) -> dict[str, str]:
        """What goes along to the issuer, and the verifier that stays."""
        params: dict[str, str] = super().get_pkce_params()
        return {**params, "nonce": _nonce(params["code_verifier"])}

    def get_auth_params_from_request(self, request: HttpRequest, action: str) -> dict[str, str]:
        """An address of ours does not say what the issuer is asked for."""
        return dict(self.get_auth_params())

    def get_scope_from_request(self, request: HttpRequest) -> list[str]:
        return list(self.get_scope())

    def extract_extra_data(self, data: dict[str, Any]) -> dict[str, Any]:
        """What is kept of it: by what their page names it to the person."""
        said = data["userinfo"]
        return {name: str(said[name]) for name in ("email", "name", "preferred_username") if said.get(name)}


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Where the installation takes the issuer's word for it, who comes for the first time with the
        verified address of a person here is that person from then on."""
        links = _issuer().links and sociallogin.state.get("process") != "connect"
        if sociallogin.is_existing or not links:
            return
        for address in sociallogin.email_addresses:
            person = Person.objects.filter(email__iexact=address.email).exclude(email="").first()
            if address.verified and person and person.is_active:
                sociallogin.connect(request, person)
                return

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **_: Any
    ) -> None:
        logger.warning("nobody was signed in by %s: %s", provider, exception or error)

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return reverse("you")


@login_not_required  # type: ignore[untyped-decorator]
def begin(request: HttpRequest) -> HttpResponse:
    """To the issuer; with `?process=connect` to link its account with the person who is signed in."""
    return _answered(request, OAuth2LoginView)


@login_not_required  # type: ignore[untyped-decorator]
def finish(request: HttpRequest) -> HttpResponse:
    """Back from it. That request began at another site, so the browser keeps our strict cookies back: it is
    sent here once more by a page of ours (`socialaccount/login_redirect.html`)."""
    return _answered(request, OAuth2CallbackView)


def _answered(request: HttpRequest, view: Any) -> HttpResponse:
    """In words, where the issuer cannot be reached or says what nobody understands."""
    adapter = Adapter(request, ISSUER)
    try:
        return view.adapter_view(adapter)(request)  # type: ignore[no-any-return]
    except (OAuth2Error, RequestException, KeyError, ValueError) as error:
        return render_authentication_error(  # type: ignore[no-any-return]
            request, adapter.get_provider(), exception=error
        )
