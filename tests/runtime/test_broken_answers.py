"""Answers that promise a call and make none, break off in one, or are cut: nothing goes on for ever, and
nothing of it stays in the way of what comes after."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.loopback.script import Cut, ToolUse, Turn
from tests.server import parts_of, serving


@pytest.mark.parametrize("text", ["", "I will look at the file."])
async def test_a_call_that_was_promised_and_not_made_is_asked_for_once_more(
    home: Path, project: Path, text: str
) -> None:
    promise = Turn(text=text, finish="tool-calls")
    script = [promise, Turn(text="Here."), promise, promise]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        answer = await client.prompt(session["id"], "Look.")
        assert "error" not in answer["info"]
        assert parts_of([answer], "text")[-1]["text"] == "Here."
        answer = await client.prompt(session["id"], "And now?")
        assert "called none, in two tries" in answer["info"]["error"]["data"]["message"]
        assert len(model.requests) == 4


async def test_a_call_in_which_the_stream_broke_is_ended_and_told_to_no_model(
    home: Path, project: Path
) -> None:
    call = ToolUse("read", {"filePath": "hello.py"}, id="call_0")
    script = [
        Turn(text="First. ", tools=[call], fault=Cut(3)),
        Turn(text="Again. ", tools=[call]),
        Turn(text="Read."),
        Turn(text="Bye."),
    ]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        answer = await client.prompt(session["id"], "Read it.")
        assert "error" not in answer["info"]
        calls = parts_of(await client.messages(session["id"]), "tool")
        assert [part["state"]["status"] for part in calls] == ["error", "completed"]
        assert "broke off" in calls[0]["state"]["error"]
        await client.prompt(session["id"], "Thank you.")
        for request in model.requests[2:]:
            made = [
                call["id"] for message in request.body["messages"] for call in message.get("tool_calls") or ()
            ]
            assert made == ["call_0"]


async def test_an_attachment_that_is_no_base64_is_refused_and_one_without_padding_read(
    home: Path, project: Path
) -> None:
    def attached(url: str) -> list[dict[str, str]]:
        return [
            {"type": "text", "text": "Look."},
            {"type": "file", "mime": "text/plain", "filename": "a.txt", "url": url},
        ]

    async with serving(home, project, [Turn(text="Seen."), Turn(text="Too.")]) as (client, model):
        session = await client.create_session(title="named")
        address = f"/session/{session['id']}/message"
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await client.http.post(address, json={"parts": attached("data:text/plain;base64,a$b")})
        assert refused.value.response.status_code == 400
        assert "a.txt cannot be read" in refused.value.response.text
        for url in ("data:text/plain;base64,aGVsbG8", "data:text/plain;base64,aGVs%62G8%3D"):
            answer = (
                (await client.http.post(address, json={"parts": attached(url)})).raise_for_status().json()
            )
            assert "error" not in answer["info"]
        assert "Attached file a.txt:\\nhello" in str(model.requests[0].body["messages"]).replace(
            "\\\\n", "\\n"
        )


async def test_half_a_summary_takes_no_conversations_place(home: Path, project: Path) -> None:
    cut = Turn(text="The user wanted A; we had done", finish="length")
    script = [Turn(text="A is done."), cut, cut, cut, cut, Turn(text="Still here.")]
    async with serving(home, project, script) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Do A.")
        body = {"providerID": "fake", "modelID": "fake"}
        await client.http.post(f"/session/{session['id']}/summarize", json=body)
        await client.prompt(session["id"], "And?")
        said = str(model.requests[-1].body["messages"])
        assert "Do A." in said
        assert "we had done" not in said
        assert (await client.session(session["id"]))["tokens"]["input"] == 10 * len(script), "all are counted"
