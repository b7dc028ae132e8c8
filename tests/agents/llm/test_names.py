"""Names for people, made of the ids that providers give."""

from __future__ import annotations

import pytest

from agents.llm.names import readable


@pytest.mark.parametrize(
    ("model_id", "name"),
    [
        ("claude-sonnet-4-5-20250929", "Claude Sonnet 4.5 (2025-09-29)"),
        ("claude-sonnet-5-5", "Claude Sonnet 5.5"),
        ("claude-opus-4-20250514", "Claude Opus 4 (2025-05-14)"),
        ("claude-3-5-haiku-latest", "Claude 3.5 Haiku Latest"),
        ("gpt-5.4-mini", "GPT-5.4 Mini"),
        ("gpt-4o-2024-08-06", "GPT-4o (2024-08-06)"),
        ("o3-mini", "o3 Mini"),
        ("gemini-2.5-flash", "Gemini 2.5 Flash"),
        ("anthropic/claude-sonnet-4.5", "Claude Sonnet 4.5"),
        ("gpt-oss-20b", "GPT OSS 20b"),
        ("llama3.1:8b", "llama3.1:8b"),
        ("-", "-"),
    ],
)
def test_readable(model_id: str, name: str) -> None:
    assert readable(model_id) == name
