from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from agents.config.schema import Config
from agents.llm.providers import Provider, UnknownModel, find_model, pick_default, pick_small, resolve
from agents.llm.types import Price

COMPATIBLE = "@ai-sdk/openai-compatible"
LOCAL = {
    "ollama": {
        "name": "Ollama",
        "npm": COMPATIBLE,
        "options": {"baseURL": "http://127.0.0.1:11434/v1"},
        "models": {"llama3": {"name": "llama3"}},
    }
}


def resolved(
    provider: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
    found: Mapping[str, Mapping[str, Any]] | None = None,
    **config: Any,
) -> dict[str, Provider]:
    configured = Config.model_validate({"provider": provider or {}, **config})
    return resolve(configured, environ or {}, keys or {}, found or {})


def test_everything_configuration_says_of_a_model_arrives() -> None:
    entry = {
        "npm": COMPATIBLE,
        "name": "My box",
        "options": {
            "baseURL": "http://box:8000/v1/",
            "apiKey": "k",
            "headers": {"x-team": "a", "x-both": "provider"},
            "timeout": 60_000,
            "chunkTimeout": False,
        },
        "models": {
            "fast": {
                "id": "org/fast-7b",
                "name": "Fast",
                "tool_call": False,
                "reasoning": True,
                "modalities": {"input": ["text", "image"], "output": ["text"]},
                "limit": {"context": 32_000, "output": 4_000},
                "cost": {
                    "input": 1,
                    "output": 2,
                    "cache_read": 0.1,
                    "cache_write": 1.5,
                    "context_over_200k": {"input": 2, "output": 3},
                },
                "options": {"reasoningEffort": "high"},
                "headers": {"x-both": "model"},
            }
        },
    }

    model = find_model(resolved({"box": entry}), "box/fast")

    assert (model.protocol, model.api_model, model.name) == ("openai", "org/fast-7b", "Fast")
    assert model.base_url == "http://box:8000/v1"
    assert model.api_key == "k"
    assert model.headers == {"x-team": "a", "x-both": "model"}
    assert model.timeout == 60
    assert model.chunk_timeout >= 3600
    assert (model.context, model.output) == (32_000, 4_000)
    assert model.price == Price(1, 2, 0.1, 1.5, long=Price(2, 3, 0.1, 1.5, above=200_000))
    assert (model.tool_call, model.reasoning, model.attachment) == (False, True, True)
    assert model.settings.options == {"reasoning_effort": "high"}


@pytest.mark.parametrize(
    ("npm", "protocol", "api_model"),
    [
        (COMPATIBLE, "openai", "m"),
        ("@ai-sdk/openai", "responses", "m"),
        ("@ai-sdk/anthropic", "anthropic", "m"),
        ("@ai-sdk/google", "litellm", "gemini/m"),
        ("@ai-sdk/groq", "openai", "m"),
        ("@ai-sdk/azure", "litellm", "azure/m"),
        ("@ai-sdk/amazon-bedrock", "litellm", "bedrock/m"),
        ("@ai-sdk/mistral", "openai", "m"),
        ("@ai-sdk/xai", "openai", "m"),
        ("@ai-sdk/deepinfra", "openai", "m"),
        ("@ai-sdk/togetherai", "openai", "m"),
        ("@ai-sdk/cohere", "litellm", "cohere_chat/m"),
        ("@ai-sdk/perplexity", "openai", "m"),
        ("@openrouter/ai-sdk-provider", "openai", "m"),
        ("some-other-package", "litellm", "mine/m"),
    ],
)
def test_the_package_selects_the_protocol(npm: str, protocol: str, api_model: str) -> None:
    model = find_model(resolved({"mine": {"npm": npm, "models": {"m": {}}}}), "mine/m")

    assert (model.protocol, model.api_model) == (protocol, api_model)


def test_a_model_may_be_reached_by_a_package_of_its_own() -> None:
    models = {
        "m": {},
        "claude": {"provider": {"npm": "@ai-sdk/anthropic"}},
        "gpt": {"provider": {"npm": "@ai-sdk/openai", "api": "http://other/v1"}},
        "near": {"provider": {"api": "http://near/v1/"}},
    }
    own = {"npm": COMPATIBLE, "options": {"baseURL": "http://g/v1", "apiKey": "k"}, "models": models}
    found = resolved({"mine": own})["mine"].models
    assert {name: (model.protocol, model.base_url) for name, model in found.items()} == {
        "m": ("openai", "http://g/v1"),
        "claude": ("anthropic", "http://g/v1"),
        "gpt": ("responses", "http://other/v1"),
        "near": ("openai", "http://near/v1"),
    }
    assert {model.api_key for model in found.values()} == {"k"}
    without = {"npm": "@ai-sdk/groq", "models": {"claude": {"provider": {"npm": "@ai-sdk/anthropic"}}}}
    claude = resolved({"mine": without})["mine"].models["claude"]
    assert (claude.base_url, claude.maker) == ("https://api.anthropic.com/v1", "anthropic")


def test_openai_is_asked_by_responses_and_a_compatible_server_by_chat_completions() -> None:
    environ = {"OPENAI_API_KEY": "o"}
    openai = resolved(environ=environ)["openai"].models
    assert {openai[name].protocol for name in ("gpt-5", "gpt-4.1", "gpt-5.3-codex")} == {"responses"}
    assert openai["gpt-4o-search-preview"].protocol == "openai", "is not served there"
    gateway = {"npm": COMPATIBLE, "options": {"baseURL": "http://g/v1"}}
    chat = resolved({"openai": gateway}, environ)["openai"].models
    assert {model.protocol for model in chat.values()} == {"openai"}
    assert openai["gpt-5.3-codex"].base_url == "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("http://h:1", "http://h:1/v1"),
        ("http://h:1/", "http://h:1/v1"),
        ("http://h:1/v1/", "http://h:1/v1"),
        ("http://h/gateway/anthropic", "http://h/gateway/anthropic"),
    ],
)
def test_an_anthropic_address_may_leave_the_version_out(written: str, used: str) -> None:
    entry = {"npm": "@ai-sdk/anthropic", "options": {"baseURL": written}, "models": {"m": {}}}

    assert find_model(resolved({"mine": entry}), "mine/m").base_url == used


def test_a_known_provider_keeps_its_models_when_configured() -> None:
    entry = {"options": {"timeout": False}, "models": {"claude-sonnet-4-5": {"name": "Mine"}}}
    providers = resolved({"anthropic": entry}, {"ANTHROPIC_API_KEY": "k"})

    changed = find_model(providers, "anthropic/claude-sonnet-4-5")
    other = find_model(providers, "anthropic/claude-haiku-4-5")

    assert (changed.name, changed.context, changed.price.output) == ("Mine", 200_000, 15)
    assert other.api_key == "k"
    assert other.timeout >= 3600
    assert other.base_url == "https://api.anthropic.com/v1"


def test_a_key_in_the_environment_or_in_the_file_is_enough() -> None:
    providers = resolved(environ={"GOOGLE_API_KEY": "g"}, keys={"groq": "q", "google": "old"})

    assert [(p.id, p.source) for p in providers.values()] == [
        ("google", "env"),
        ("groq", "auth"),
        ("demo", "demo"),
    ]
    assert find_model(providers, "google/gemini-2.5-pro").api_key == "g"
    assert find_model(providers, "groq/openai/gpt-oss-120b").api_model == "openai/gpt-oss-120b"


def test_without_a_key_a_known_provider_is_left_out_and_the_error_says_how_to_add_it() -> None:
    providers = resolved({"anthropic": {"options": {"timeout": 1}}})

    assert list(providers) == ["demo"]
    with pytest.raises(UnknownModel, match="ANTHROPIC_API_KEY"):
        find_model(providers, "anthropic/claude-sonnet-4-5")


def test_lists_and_switches_narrow_the_choice() -> None:
    environ = {"OPENAI_API_KEY": "o", "XAI_API_KEY": "x", "MISTRAL_API_KEY": "m"}
    entry = {"whitelist": ["gpt-5", "gpt-5-mini"], "blacklist": ["gpt-5-mini"]}

    providers = resolved(
        {"openai": entry}, environ, enabled_providers=["openai", "xai"], disabled_providers=["xai"]
    )

    assert list(providers) == ["openai", "demo"]
    assert list(providers["openai"].models) == ["gpt-5"]


def test_a_configured_local_provider_is_completed_by_what_was_found() -> None:
    known = {"ollama": {"name": "Mine", "models": {"llama3": {"limit": {"context": 4096}}}}}
    other = {"ollama": {"npm": COMPATIBLE, "options": {"baseURL": "http://else/v1"}, "models": {"m": {}}}}

    merged, elsewhere = resolved(known, found=LOCAL)["ollama"], resolved(other, found=LOCAL)["ollama"]

    assert (merged.name, merged.models["llama3"].context) == ("Mine", 4096)
    assert merged.models["llama3"].base_url == "http://127.0.0.1:11434/v1"
    assert list(elsewhere.models) == ["m"]


def test_a_gateway_passes_on_names_that_are_not_listed() -> None:
    model = find_model(resolved(keys={"openrouter": "k"}), "openrouter/anthropic/claude-haiku-4.5:beta")

    assert model.api_model == "anthropic/claude-haiku-4.5:beta"
    assert model.ref == "openrouter/anthropic/claude-haiku-4.5:beta"
    assert model.api_key == "k"


def test_the_default_comes_from_the_best_source_and_the_demo_comes_last() -> None:
    box = {"box": {"npm": COMPATIBLE, "models": {"a": {}, "b": {}}}}
    environ, keys = {"ANTHROPIC_API_KEY": "a"}, {"openai": "o"}

    assert pick_default(resolved(box, environ, keys, LOCAL), None).ref == "box/a"
    assert pick_default(resolved(None, environ, keys, LOCAL), None).provider_id == "anthropic"
    assert pick_default(resolved(None, None, keys, LOCAL), None).provider_id == "openai"
    assert pick_default(resolved(found=LOCAL), None).ref == "ollama/llama3"
    assert pick_default(resolved(), None).ref == "demo/scripted"


def test_a_configured_model_is_never_replaced() -> None:
    providers = resolved(environ={"ANTHROPIC_API_KEY": "a"}, found=LOCAL)

    assert pick_default(providers, "ollama/llama3").ref == "ollama/llama3"
    with pytest.raises(UnknownModel, match=r"Did you mean .*anthropic/claude-sonnet-4-5"):
        pick_default(providers, "anthropic/claude-sonet-4-5")
    with pytest.raises(UnknownModel, match="Did you mean ollama/llama3"):
        pick_default(providers, "llama3")
    with pytest.raises(UnknownModel, match="Providers: anthropic, ollama, demo"):
        pick_default(providers, "zzzzzzzz/qqqqqqqq")


def test_the_small_model_is_configured_or_the_providers_or_the_current_one() -> None:
    providers = resolved(environ={"ANTHROPIC_API_KEY": "a"}, found=LOCAL)
    large, local = pick_default(providers, None), find_model(providers, "ollama/llama3")

    by_provider = pick_small(providers, None, large)

    assert by_provider is not None
    assert "haiku" in by_provider.model_id
    assert pick_small(providers, "ollama/llama3", large) == local
    assert pick_small(providers, None, local) == local
    with pytest.raises(UnknownModel):
        pick_small(providers, "ollama/nothing", large)


def test_no_key_is_ever_shown() -> None:
    environ = {"ANTHROPIC_API_KEY": "sk-secret", "OPENROUTER_API_KEY": "sk-secret"}

    assert "sk-secret" not in repr(resolved(environ=environ))
