"""Configuration, providers, and signing in to them."""

from __future__ import annotations

from typing import Any

from opencode_web.bridge.formatting.catalogues import auth_methods, known_providers, usable_providers
from opencode_web.bridge.formatting.plain import done, pretty, redacted
from opencode_web.bridge.operations import shapes
from opencode_web.bridge.operations.arguments import PROVIDER, aside, body
from opencode_web.bridge.tool import ENDS, REACHES, READS, SETS, Operation


def _configuration(data: Any) -> str:
    return pretty(redacted(data))


_CONFIG = aside("config", "The fields to change, as in opencode.json.", dict[str, Any], required=True)

CONFIG_OPERATIONS = (
    Operation(
        "config_get",
        "GET",
        "/config",
        "Show the configuration of the project; secrets are hidden.",
        READS,
        format=_configuration,
    ),
    Operation(
        "config_update",
        "PATCH",
        "/config",
        "Change the configuration of the project.",
        SETS,
        (_CONFIG,),
        _configuration,
        shapes.config,
    ),
    Operation(
        "config_providers",
        "GET",
        "/config/providers",
        "List the providers that can be used, with their models.",
        READS,
        format=usable_providers,
    ),
)

GLOBAL_OPERATIONS = (
    Operation("health", "GET", "/global/health", "Say whether the server answers, and its version.", READS),
    Operation(
        "global_config_get",
        "GET",
        "/global/config",
        "Show the user's own configuration; secrets are hidden.",
        READS,
        format=_configuration,
    ),
    Operation(
        "global_config_update",
        "PATCH",
        "/global/config",
        "Change the user's own configuration.",
        SETS,
        (_CONFIG,),
        _configuration,
        shapes.config,
    ),
)

_METHOD = body("method", "Its number in opencode_provider_auth_methods.", int, required=True)

PROVIDER_OPERATIONS = (
    Operation(
        "provider_list",
        "GET",
        "/provider",
        "List all known providers, the connected ones first.",
        READS,
        format=known_providers,
    ),
    Operation(
        "provider_auth_methods",
        "GET",
        "/provider/auth",
        "List the ways to sign in to providers.",
        READS,
        format=auth_methods,
    ),
    Operation(
        "provider_oauth_authorize",
        "POST",
        "/provider/{providerID}/oauth/authorize",
        "Begin to sign in: an address for the user to open.",
        REACHES,
        (PROVIDER, _METHOD, body("inputs", "Answers to the method's questions.", dict[str, str])),
    ),
    Operation(
        "provider_oauth_callback",
        "POST",
        "/provider/{providerID}/oauth/callback",
        "Finish signing in.",
        REACHES,
        (PROVIDER, _METHOD, body("code", "The code that the user was given.", secret=True)),
        done("Signed in."),
    ),
    Operation(
        "auth_set",
        "PUT",
        "/auth/{providerID}",
        "Store an API key of a provider.",
        SETS,
        (PROVIDER, aside("key", "The key. It is stored and never shown.", required=True, secret=True)),
        done("The key was stored."),
        shapes.credentials,
    ),
    Operation(
        "auth_remove",
        "DELETE",
        "/auth/{providerID}",
        "Forget the credentials of a provider.",
        ENDS,
        (PROVIDER,),
        done("The credentials were removed."),
    ),
)
