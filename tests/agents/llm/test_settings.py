"""What a model is asked with: three domains out of configuration, chosen by variant, put on the wire."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.config.schema import Config
from agents.llm.prices import UNKNOWN, Limits
from agents.llm.providers import find_model, resolve
from agents.llm.readers import anthropic_messages, litellm_reader, openai_body
from agents.llm.settings.domains import Controls, Settings
from agents.llm.settings.ingest import settings_of
from agents.llm.settings.variants import known_variant, variants_of
from tests.agents.llm.asking import model, request

THINKS = replace(UNKNOWN, reasoning=True)
OPENAI = "https://api.openai.com/v1"


def test_the_three_domains_are_told_apart() -> None:
    settings = settings_of(
        {
            "temperature": 0.2,
            "topP": 0.9,
            "top_k": 5,
            "maxOutputTokens": 100,
            "frequencyPenalty": 1,
            "presence_penalty": 2,
            "seed": 7,
            "stopSequences": "END",
            "reasoningEffort": "high",
            "thinking": {"type": "enabled", "budgetTokens": 9},
            "verbosity": "low",
            "store": False,
            "chatTemplateKwargs": {"enableThinking": True},
            "max_tokens": None,
            "seed ": 8,
        }
    )
    assert settings.controls == Controls(0.2, 0.9, 5, 100, 1, 2, 7, ["END"])
    assert settings.options == {
        "reasoning_effort": "high",
        "thinking": {"type": "enabled", "budget_tokens": 9},
        "text_verbosity": "low",
        "store": False,
    }
    assert settings.body == {
        "chatTemplateKwargs": {"enableThinking": True},
        "max_tokens": None,
        "seed ": 8,
    }


@pytest.mark.parametrize("wrong", ["hot", True, [1]])
def test_a_control_with_a_value_it_cannot_have_is_left_to_the_provider(wrong: Any) -> None:
    assert settings_of({"temperature": wrong}) == Settings(body={"temperature": wrong})


def test_the_nearer_settings_win_name_by_name() -> None:
    far, near = (
        settings_of({"temperature": 1, "seed": 1, "store": True, "a": 1}),
        settings_of({"seed": 2, "a": 2}),
    )
    both = far.under(near)
    assert (both.controls, both.options, both.body) == (
        Controls(temperature=1, seed=2),
        {"store": True},
        {"a": 2},
    )


def test_openai_is_sent_what_it_knows() -> None:
    given: dict[str, Any] = {"temperature": 0.1, "top_k": 3, "seed": 4, "stop": ["x"], "textVerbosity": "low"}
    foreign: dict[str, Any] = {
        "effort": "high",
        "reasoningSummary": "auto",
        "include": ["x"],
        "thinkingConfig": {},
    }
    theirs = openai_body.build(
        request(model("http://box/v1"), **given, **foreign, reasoningEffort="low", own=1)
    )
    names = {"temperature": 0.1, "top_k": 3, "seed": 4, "stop": ["x"], "verbosity": "low", "own": 1}
    assert theirs.items() >= {**names, "reasoning_effort": "low", "max_tokens": 8192}.items()
    assert not {"effort", "reasoning_summary", "include", "thinking_config"} & theirs.keys()
    own = openai_body.build(request(model(OPENAI, reasoning=True), max_tokens=9, **given))
    assert own["max_completion_tokens"] == 9
    assert not {"temperature", "top_k", "seed", "stop", "max_tokens"} & own.keys()
    for name in ("gpt-5", "openai/o4-mini", "gpt-5.3-codex"):
        elsewhere = model("https://gateway.example/v1", api_model=name)
        assert openai_body.build(request(elsewhere, max_tokens=9))["max_completion_tokens"] == 9
    for name in ("gpt-4.1", "gpt-5-chat-latest", "gpt-oss-120b", "foo1"):
        elsewhere = model("https://gateway.example/v1", api_model=name)
        assert openai_body.build(request(elsewhere, max_tokens=9))["max_tokens"] == 9


def test_a_model_that_takes_no_temperature_is_asked_for_none() -> None:
    models: dict[str, Any] = {"plain": {}, "other": {"temperature": False}}
    box = {"options": {"baseURL": "http://box/v1"}, "models": models}
    found = resolve(Config.model_validate({"provider": {"box": box}}), {}, {}, {})["box"].models
    bodies = {name: openai_body.build(request(found[name], temperature=0.1, topP=0.5)) for name in found}
    assert {name: body.get("temperature") for name, body in bodies.items()} == {"plain": 0.1, "other": None}
    assert {body["top_p"] for body in bodies.values()} == {0.5}


def test_anthropic_is_sent_what_it_knows() -> None:
    given: dict[str, Any] = {
        "temperature": 0.1,
        "top_k": 3,
        "seed": 4,
        "stop": ["x"],
        "reasoningEffort": "high",
        "user": "u",
    }
    body = anthropic_messages.build(request(model("", "anthropic"), **given, parallelToolCalls=False, own=1))
    assert (body["temperature"], body["top_k"], body["stop_sequences"]) == (0.1, 3, ["x"])
    assert (body["metadata"], body["own"]) == ({"user_id": "u"}, 1)
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert not {"seed", "reasoning_effort", "user", "stop", "thinking"} & body.keys()


@pytest.mark.parametrize(
    ("output", "budget", "sent", "limit"),
    [(64_000, 16_000, 16_000, 48_000), (8_192, 4_095, 4_095, 8_192), (8_192, 31_999, 8_191, 8_192)],
)
def test_a_budget_of_thinking_raises_the_limit_as_far_as_the_model_goes(
    output: int, budget: int, sent: int, limit: int
) -> None:
    thinking = {"type": "enabled", "budgetTokens": budget}
    asked = model("", "anthropic", output=output)
    body = anthropic_messages.build(request(asked, thinking=thinking, temperature=1, stop=["x"]))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": sent}
    assert body["max_tokens"] == limit
    assert "temperature" not in body
    assert body["stop_sequences"] == ["x"]


def test_thinking_by_itself_and_by_effort() -> None:
    adaptive: dict[str, Any] = {"thinking": {"type": "adaptive", "display": "summarized"}, "effort": "max"}
    body = anthropic_messages.build(request(model("", "anthropic"), **adaptive))
    assert (body["thinking"], body["output_config"]) == (adaptive["thinking"], {"effort": "max"})
    off = anthropic_messages.build(
        request(model("", "anthropic"), thinking={"type": "disabled"}, temperature=1)
    )
    assert (off["thinking"], off["temperature"]) == ({"type": "disabled"}, 1)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"effort": "max"}, {"reasoning_effort": "max"}),
        ({"thinkingConfig": {"thinkingLevel": "low"}}, {"reasoning_effort": "low"}),
        (
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 5}},
            {"thinking": {"type": "enabled", "budget_tokens": 5}, "max_tokens": 8192},
        ),
        ({"reasoningEffort": "low", "own": 1}, {"reasoning_effort": "low", "own": 1}),
    ],
)
def test_litellm_is_told_in_the_two_forms_it_translates(given: dict[str, Any], sent: dict[str, Any]) -> None:
    body = litellm_reader._arguments(request(model("", "litellm"), **given))
    assert body.items() >= sent.items()
    assert not {"effort", "thinking_config"} & body.keys()


@pytest.mark.parametrize(
    ("protocol", "limits", "names"),
    [
        ("openai", UNKNOWN, []),
        ("openai", THINKS, ["low", "medium", "high"]),
        ("openai", replace(THINKS, efforts=("minimal", "low", "high")), ["minimal", "low", "high"]),
        ("litellm", THINKS, ["low", "medium", "high"]),
        ("anthropic", THINKS, ["high", "max"]),
        ("anthropic", replace(THINKS, thinking="silent", efforts=("low", "max")), ["low", "max"]),
    ],
)
def test_models_that_think_have_variants(protocol: str, limits: Limits, names: list[str]) -> None:
    assert list(variants_of(protocol, limits, 64_000, {})) == names


def test_built_in_variants_are_of_their_protocol() -> None:
    assert variants_of("openai", THINKS, 1, {})["low"].options == {"reasoning_effort": "low"}
    budgets = [
        v.options["thinking"]["budget_tokens"] for v in variants_of("anthropic", THINKS, 8192, {}).values()
    ]
    assert budgets == [4095, 8191]
    silent = variants_of("anthropic", replace(THINKS, thinking="silent"), 1, {})["low"].options
    assert silent == {"thinking": {"type": "adaptive", "display": "summarized"}, "effort": "low"}


def test_configuration_adds_changes_and_takes_away() -> None:
    written: dict[str, dict[str, Any]] = {
        "low": {"disabled": True},
        "high": {"topK": 4},
        "wild": {"temperature": 2, "disabled": False},
        "off": {"disabled": True},
    }
    variants = variants_of("openai", THINKS, 1, written)
    assert list(variants) == ["medium", "high", "wild"]
    assert variants["high"] == Settings(Controls(top_k=4), {"reasoning_effort": "high"})
    assert variants["wild"] == Settings(Controls(temperature=2))


def test_known_models_have_the_levels_of_the_price_table() -> None:
    environ = {
        "OPENAI_API_KEY": "o",
        "ANTHROPIC_API_KEY": "a",
        "GEMINI_API_KEY": "g",
        "OPENROUTER_API_KEY": "r",
    }
    providers = resolve(Config(), environ, {}, {})

    def variants(ref: str) -> list[str]:
        return list(find_model(providers, ref).variants)

    assert variants("openai/gpt-5") == ["minimal", "low", "medium", "high"]
    assert variants("openai/gpt-5.2") == ["none", "low", "medium", "high", "xhigh"]
    assert variants("openai/gpt-4o") == []
    assert variants("anthropic/claude-sonnet-4-5") == ["high", "max"]
    assert variants("anthropic/claude-opus-4-6") == ["low", "medium", "high", "max"]
    assert variants("google/gemini-2.5-pro") == ["low", "medium", "high"]
    assert variants("openrouter/anthropic/claude-opus-4.6") == ["low", "medium", "high", "max"]


def test_a_variant_the_model_lacks_is_left_out_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    asked = model(variants={"high": Settings()})
    assert known_variant(asked, "high") == "high"
    assert known_variant(asked, "") == ""
    with caplog.at_level("INFO"):
        assert known_variant(asked, "max") == ""
    assert "fake/m has no variant 'max'" in caplog.text


def test_makers_recommendations_hold_until_something_else_is_said() -> None:
    entry = {"npm": "@ai-sdk/google", "models": {"gemini-2.5-pro": {"options": {"temperature": 0.1}}}}
    config = Config.model_validate({"provider": {"google": entry}})
    models = resolve(config, {"GEMINI_API_KEY": "k"}, {}, {})["google"].models
    said = {name: models[name].settings.controls.said() for name in ("gemini-2.5-pro", "gemini-2.5-flash")}
    assert said["gemini-2.5-flash"] == {"temperature": 1.0, "top_p": 0.95, "top_k": 64}
    assert said["gemini-2.5-pro"] == {"temperature": 0.1, "top_p": 0.95, "top_k": 64}
