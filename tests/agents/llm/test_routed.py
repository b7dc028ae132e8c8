"""A `fetch` in place of litellm's own HTTP, for each provider that is asked through litellm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agents.llm import stream
from agents.llm.types import ModelError, TextDelta
from tests.agents.llm.asking import events, joined, model, request

pytestmark = pytest.mark.litellm


class Answer:
    """A response whose body comes in pieces; broken off where one is None."""

    def __init__(self, status: int, *pieces: bytes | None) -> None:
        self.status, self.url, self.content = status, "", self
        self.headers: Mapping[str, str] = {}
        self._pieces = list(pieces)
        self.closed = False

    async def readany(self) -> bytes:
        piece = self._pieces.pop(0) if self._pieces else b""
        if piece is None:
            raise ConnectionError("the plugin that sends it: gone")
        return piece

    def close(self) -> None:
        self.closed = True


class Fetch:
    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str, dict[str, str], Any]] = []

    async def __call__(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        self.asked.append((method, url, dict(headers), json.loads(body or b"null")))
        return self.answer


def event(text: str) -> bytes:
    part = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    return f"data: {json.dumps({'candidates': [part]})}\n\n".encode()


async def test_a_gemini_is_asked_by_it_and_streams() -> None:
    whole = event("Hel") + event("lo.")
    fetch = Fetch(Answer(200, whole[:30], whole[30:]))
    asked = model("", "litellm", api_model="gemini/gemini-2.5-pro", fetch=fetch)
    given = joined(await events(stream, request(asked)))
    assert TextDelta("Hello.") in given
    ((method, url, headers, body),) = fetch.asked
    assert (method, "streamGenerateContent" in url) == ("POST", True)
    assert url.startswith("https://generativelanguage.googleapis.com/")
    assert body["contents"][0]["parts"] == [{"text": "Hi"}]
    assert headers["content-type"] == "application/json"
    assert fetch.answer.closed


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("gemini/gemini-2.5-pro", ""),
        ("cohere_chat/command-r", ""),
        ("azure/gpt-5", "https://mine.openai.azure.com"),
        ("bedrock/anthropic.claude-3-5-sonnet-20240620-v1:0", ""),
    ],
)
async def test_each_provider_is_asked_by_it(name: str, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(variable, "x")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    fetch = Fetch(Answer(418, b'{"error": {"message": "a teapot"}}'))
    with pytest.raises(ModelError, match="a teapot"):
        await events(stream, request(model(address, "litellm", api_model=name, fetch=fetch)))
    assert [method for method, *_ in fetch.asked] == ["POST"]


async def test_one_that_breaks_off_is_asked_again() -> None:
    fetch = Fetch(Answer(200, event("Hel"), None))
    asked = model("", "litellm", api_model="gemini/gemini-2.5-pro", fetch=fetch)
    with pytest.raises(ModelError) as failed:
        await events(stream, request(asked))
    assert failed.value.retryable
