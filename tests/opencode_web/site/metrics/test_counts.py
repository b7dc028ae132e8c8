"""What is made of the events of a turn."""

from __future__ import annotations

from typing import Any

from opencode_web.site.metrics.counts import CALLS, COST, DELTAS, TOKENS, TURNS, Counter
from sessions.core.bus import Event

TOKENS_OF_A_STEP = {"input": 10, "output": 5, "reasoning": 1, "cache": {"read": 7, "write": 0}}


def told(type: str, **properties: Any) -> Event:
    return Event(type, properties, session_id="ses_1")


def part(id: str, type: str, **more: Any) -> Event:
    return told("message.part.updated", part={"id": id, "messageID": "msg_1", "type": type, **more})


def call(id: str, tool: str, status: str) -> Event:
    return part(id, "tool", tool=tool, state={"status": status})


def message(**more: Any) -> Event:
    info = {
        "id": "msg_1",
        "sessionID": "ses_1",
        "role": "assistant",
        "providerID": "p",
        "modelID": "m",
        **more,
    }
    return told("message.updated", info=info)


def text() -> str:
    return "\n".join(line for family in (TURNS, CALLS, TOKENS, COST, DELTAS) for line in family.lines())


def test_a_turn_is_counted_once_however_often_it_is_told_of() -> None:
    counter = Counter()
    for event in (
        told("message.updated", info={"id": "msg_0", "role": "user"}),
        message(),
        told("message.part.delta", delta="a"),
        call("prt_1", "bash", "running"),
        *[call("prt_1", "bash", "completed")] * 2,
        call("prt_2", "tool_of_a_person", "error"),
        *[part("prt_3", "step-finish", tokens=TOKENS_OF_A_STEP, cost=0.25)] * 2,
        told("session.idle"),
    ):
        counter.hear(event)
    assert text().splitlines() == [
        *list(TURNS.lines())[:2],
        'opencode_web_turns_ended_total{kind="done"} 1',
        *list(CALLS.lines())[:2],
        'opencode_web_calls_total{tool="bash",status="completed"} 1',
        'opencode_web_calls_total{tool="other",status="error"} 1',
        *list(TOKENS.lines())[:2],
        'opencode_web_tokens_total{model="p/m",kind="input"} 10',
        'opencode_web_tokens_total{model="p/m",kind="output"} 5',
        'opencode_web_tokens_total{model="p/m",kind="reasoning"} 1',
        'opencode_web_tokens_total{model="p/m",kind="cache_read"} 7',
        'opencode_web_tokens_total{model="p/m",kind="cache_write"} 0',
        *list(COST.lines())[:2],
        'opencode_web_cost_dollars_total{model="p/m"} 0.25',
        *list(DELTAS.lines())[:2],
        "opencode_web_deltas_total 1",
    ]


def test_how_a_turn_ended() -> None:
    counter = Counter()
    counter.hear(told("session.error", error={"name": "APIError"}))
    counter.hear(told("session.idle"))
    counter.hear(message(error={"name": "MessageAbortedError"}))
    counter.hear(told("session.idle"))
    lines = list(TURNS.lines())
    assert 'opencode_web_turns_ended_total{kind="APIError"} 1' in lines
    assert 'opencode_web_turns_ended_total{kind="MessageAbortedError"} 1' in lines
