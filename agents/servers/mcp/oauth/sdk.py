"""The SDK's provider, storage and metadata as a sign-in of ours uses them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl

from agents.llm.accounts.flows.base import USER_AGENT
from agents.servers.mcp.oauth.settings import Client

NO_CLIENT = (
    "Its authorization server registers no clients by itself. Register one there, and set oauth.clientId in"
    " the configuration."
)


@dataclass(frozen=True, slots=True)
class Found:
    """The authorization server of an MCP server; `metadata` is None where it publishes none."""

    metadata: OAuthMetadata | None
    resource: str

    @property
    def registers(self) -> bool:
        """Whether it takes a client that nobody has told it of (RFC 7591)."""
        return self.metadata is None or self.metadata.registration_endpoint is not None

    def lines(self) -> Iterator[str]:
        """What was found, for people."""
        if self.metadata is None:
            yield "The server asks for a sign-in and does not say where"
            return
        yield f"Authorization server: {self.metadata.issuer}"
        yield f"Signing in: {self.metadata.authorization_endpoint}"
        yield f"Tokens: {self.metadata.token_endpoint}"
        yield f"Registration: {self.metadata.registration_endpoint or 'by hand'}"

    def method(self, secret: str) -> str:
        """How a client that is known there shows itself (RFC 8414 §2; the default is in RFC 7591 §2)."""
        if not secret:
            return "none"
        taken = (self.metadata and self.metadata.token_endpoint_auth_methods_supported) or []
        return "client_secret_post" if "client_secret_post" in taken else "client_secret_basic"


class Storage:
    """An SDK `TokenStorage` for one flow: it begins with nothing but the configured client."""

    def __init__(self, known: OAuthClientInformationFull | None) -> None:
        self.known = known
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.known

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.known = client_info


class Provider(OAuthClientProvider):
    """Asks for the scope that is wanted, whatever the server would suggest."""

    scope = ""
    secret = ""

    @property
    def found(self) -> Found:
        return Found(self.context.oauth_metadata, self.context.get_resource_url())

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        self.context.client_metadata.scope = self.scope or self.context.client_metadata.scope
        if self.secret and self.context.client_info is not None:
            self.context.client_info.token_endpoint_auth_method = self.found.method(self.secret)
        return await super()._perform_authorization_code_grant()


def known(configured: Client, redirect: str) -> OAuthClientInformationFull | None:
    if not configured.id:
        return None
    return OAuthClientInformationFull(
        client_id=configured.id, client_secret=configured.secret or None, redirect_uris=[AnyUrl(redirect)]
    )


def metadata_of(configured: Client, redirect: str) -> OAuthClientMetadata:
    """What a client registers as (RFC 7591 §2): one that can keep no secret."""
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name=USER_AGENT,
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",  # noqa: S106 (no password)
        scope=configured.scope or None,
    )
