"""Names of models for people, where nobody gave one: made of the provider's own."""

from __future__ import annotations

import re

_DATE = re.compile(r"[-@](20\d\d)-?(\d\d)-?(\d\d)$")
_VERSION = re.compile(r"(?<=\d)-(?=\d{1,2}(?:-|$))")
_FAMILIES = {
    "gpt": "GPT",
    "glm": "GLM",
    "deepseek": "DeepSeek",
    "chatgpt": "ChatGPT",
    "oss": "OSS",
    "ai": "AI",
}


def readable(model_id: str) -> str:
    """`claude-sonnet-4-5-20250929` as `Claude Sonnet 4.5 (2025-09-29)`; of `vendor/model` the last part.
    What follows no such pattern stays as it is."""
    name = model_id.rpartition("/")[2]
    dated = _DATE.search(name)
    words = _VERSION.sub(".", _DATE.sub("", name)).split("-")
    shown = " ".join(_word(word) for word in words if word)
    shown = re.sub(r"^(GPT|GLM) (?=\d)", r"\1-", shown)
    return f"{shown} ({'-'.join(dated.groups())})" if dated else shown or model_id


def _word(word: str) -> str:
    if word in _FAMILIES:
        return _FAMILIES[word]
    return word.capitalize() if re.fullmatch(r"[a-z]+", word) else word
