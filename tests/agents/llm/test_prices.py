from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agents.llm import prices
from agents.llm.known import KNOWN
from agents.llm.types import Price, Usage


def test_a_known_model_has_limits_price_and_abilities() -> None:
    found = prices.limits("anthropic", "claude-sonnet-4-5")

    assert found.context == 200_000
    assert found.output == 64_000
    assert found.price == Price(input=3, output=15, cache_read=0.3, cache_write=3.75)
    assert found.reasoning
    assert found.attachment


def test_the_names_are_those_the_provider_uses() -> None:
    assert "gemini-2.5-pro" in prices.models_of("google")
    assert prices.limits("google", "gemini-2.5-pro").context > 1_000_000


def test_only_models_that_our_readers_can_ask_are_listed() -> None:
    names = prices.models_of("openai")

    assert "gpt-5" in names
    assert {"gpt-5.4-pro", "gpt-5.3-codex"} <= set(names), "answer only under /v1/responses"
    assert "computer-use-preview" not in names
    assert "text-embedding-3-large" not in names
    assert "gpt-realtime" not in names


def test_a_gateway_knows_the_price_of_the_vendors_model() -> None:
    assert prices.limits("openrouter", "anthropic/claude-sonnet-4.5") == prices.limits(
        "anthropic", "claude-sonnet-4-5"
    )
    assert prices.limits("openrouter", "openrouter/auto") == prices.UNKNOWN


@pytest.mark.parametrize(
    ("provider", "model", "usage", "dollars"),
    [
        ("google", "gemini-2.5-pro", Usage(input=200_000, output=2_000), 0.27),
        ("google", "gemini-2.5-pro", Usage(input=300_000, output=2_000), 0.78),
        ("google", "gemini-2.5-pro", Usage(input=100_000, cache_read=200_000, output=2_000), 0.33),
        ("openai", "gpt-5.4", Usage(input=272_000), 0.68),
        ("openai", "gpt-5.4", Usage(input=300_000), 1.5),
    ],
)
def test_a_long_request_has_its_own_price(provider: str, model: str, usage: Usage, dollars: float) -> None:
    assert usage.cost(prices.limits(provider, model).price) == pytest.approx(dollars)


@pytest.mark.parametrize("provider", ["anthropic", "nobody"])
def test_what_nobody_knows_has_the_defaults(provider: str) -> None:
    assert prices.limits(provider, "no-such-model") == prices.UNKNOWN


def test_every_default_of_the_known_providers_exists() -> None:
    for known in KNOWN.values():
        names = prices.models_of(known.id)
        assert not known.defaults or set(known.defaults) & set(names), known.id
        assert not known.small or set(known.small) & set(names), known.id


def test_retired_models_are_not_offered_but_priced() -> None:
    today = "2026-01-01"
    entry = {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": True}

    gone = prices._reduced({**entry, "deprecation_date": "2025-12-31"}, today)
    stays = prices._reduced({**entry, "deprecation_date": "2026-01-02"}, today)

    assert gone == ("openai", prices.Limits(retired=True))
    assert stays == ("openai", prices.Limits())


def test_litellm_is_not_imported() -> None:
    code = (
        "import sys, django; django.setup(); from agents.llm import prices; "
        "assert prices.models_of('openai'); sys.exit('litellm' in sys.modules)"
    )

    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "opencode_web.settings"}
    assert subprocess.run([sys.executable, "-c", code], env=environ, check=False).returncode == 0
