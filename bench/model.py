"""The scripted model of the bench, a process of its own: the prompt itself says what it answers.

So one model serves any number of sessions at once and keeps no state. `python -m bench.model --port N`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.loopback.cli import serve
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, ToolUse, Turn

MARK = "#bench "


def prompt(*, deltas: int = 1, delay: float = 0.0, tools: Sequence[ToolUse] = (), paragraph: int = 0) -> str:
    """A prompt that makes the model call `tools`, one a step, and then send `deltas` stamped deltas, in
    paragraphs of `paragraph` deltas where that is given."""
    calls = [[use.name, use.arguments] for use in tools]
    return MARK + json.dumps({"deltas": deltas, "delay": delay, "tools": calls, "paragraph": paragraph})


def answer(body: Body) -> Turn:
    """The turn that the last prompt asks for at this step: one step for each assistant message since."""
    messages: Sequence[dict[str, Any]] = body["messages"]
    last = max(
        i for i, message in enumerate(messages) if message["role"] == "user" and MARK in _text(message)
    )
    wanted, _end = json.JSONDecoder().raw_decode(_text(messages[last]).partition(MARK)[2])
    step = sum(message["role"] == "assistant" for message in messages[last:])
    if step < len(wanted["tools"]):
        name, arguments = wanted["tools"][step]
        return Turn(tools=[ToolUse(name, arguments)])
    text = list(_deltas(wanted["deltas"], wanted["paragraph"]))
    return Turn(text=text, delay=wanted["delay"], stamp=True)


def _deltas(count: int, paragraph: int) -> Iterator[str]:
    for number in range(count):
        if paragraph and number and number % paragraph == 0:
            yield "\n\n"
        yield "x"


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)


def main() -> None:
    parser = argparse.ArgumentParser(description="the scripted model of the bench")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(OpenAIServer(answer, port=parser.parse_args().port)))


if __name__ == "__main__":
    main()
