"""Which models a sign-in brings, and how they are asked."""

from __future__ import annotations

from typing import Any

import pytest

from agents.config.schema import Config
from agents.llm.accounts.tokens import accounts_of
from agents.llm.providers import Provider, resolve

SIGNED_IN = {"type": "oauth", "refresh": "r", "access": "a-secret", "expires": 0}
ENTRIES = {"openai": SIGNED_IN, "github-copilot": SIGNED_IN, "anthropic": SIGNED_IN}


def resolved(
    provider: dict[str, Any] | None = None, environ: dict[str, str] | None = None
) -> dict[str, Provider]:
    config = Config.model_validate({"provider": provider or {}})
    return resolve(config, environ or {}, {}, {}, accounts_of(ENTRIES))


def test_the_models_of_those_one_can_sign_in_at_are_offered() -> None:
    found = resolved()
    assert list(found) == ["openai", "github-copilot", "demo"]
    assert {model.protocol for model in found["openai"].models.values()} == {"responses"}
    assert {model.protocol for model in found["github-copilot"].models.values()} == {"openai", "responses"}
    assert found["openai"].source == "auth"
    for provider_id in ("openai", "github-copilot"):
        assert found[provider_id].default
        assert found[provider_id].small
        assert all(model.account and not model.api_key for model in found[provider_id].models.values())
    assert "secret" not in repr(found)


def test_a_sign_in_comes_before_the_environments_key() -> None:
    found = resolved(environ={"OPENAI_API_KEY": "sk"})["openai"]
    assert found.source == "auth"
    assert next(iter(found.models.values())).account


@pytest.mark.parametrize("options", [{"apiKey": "sk"}, {"baseURL": "https://proxy.example/v1"}])
def test_the_configurations_key_or_address_comes_before_a_sign_in(options: dict[str, str]) -> None:
    found = resolved({"openai": {"options": options, "models": {"mine": {}}}})["openai"].models["mine"]
    assert found.account is None, "a token goes to no address of a project's"
    assert found.protocol == "responses"


def test_a_configured_model_is_asked_through_the_sign_in() -> None:
    found = resolved({"openai": {"models": {"mine": {"id": "gpt-mine"}}}})["openai"].models["mine"]
    assert (found.account is not None, found.api_model, found.protocol) == (True, "gpt-mine", "responses")


def test_without_a_sign_in_copilot_is_left_out() -> None:
    config = Config.model_validate({"provider": {"github-copilot": {"models": {"mine": {}}}}})
    assert "github-copilot" not in resolve(config, {}, {}, {})
    assert accounts_of({"openai": {"type": "api", "key": "k"}}) == {}
