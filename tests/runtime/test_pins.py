"""What is pinned survives a compaction word by word, and the model is sent it once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.client import Client
from tests.loopback.script import Turn
from tests.runtime.test_compaction import SUMMARY, is_compaction, said, summarize
from tests.server import serving


class Pinned:
    """What is pinned in one session, by the pages."""

    def __init__(self, client: Client, session: dict[str, Any]) -> None:
        self._client = client
        self._base = f"/p/{session['projectID']}/s/{session['id']}"

    async def pin(self, **what: str) -> str:
        answer = await self._client.http.post(f"{self._base}/pins", data=what)
        assert answer.status_code in (200, 204)
        return answer.text

    async def unpin(self, title: str) -> None:
        page = (await self._client.http.get(self._base)).text
        (way,) = [piece for piece in page.split("<button") if f'aria-label="Unpin {title}"' in piece]
        address = way.partition('hx-post="')[2].partition('"')[0]
        assert (await self._client.http.post(address)).status_code == 204


async def test_a_prompt_and_an_answer_are_there_once_before_and_after(home: Path, project: Path) -> None:
    script = [Turn(text="THE ANSWER"), Turn(text="Two."), Turn(text=SUMMARY), Turn(text="Four.")]
    async with serving(home, project, script, compaction={"tail_turns": 0}) as (client, model):
        session = await client.create_session("named")
        pinned = Pinned(client, session)
        await client.prompt(session["id"], "THE  PROMPT")
        for entry in await client.messages(session["id"]):
            await pinned.pin(message=entry["info"]["id"])
        await client.prompt(session["id"], "Second.")
        before = said(model.requests[1].body)
        assert (before.count("THE  PROMPT"), before.count("THE ANSWER")) == (1, 1)
        assert await summarize(client, session["id"]) is True
        assert is_compaction(model.requests[2].body)
        await client.prompt(session["id"], "Third.")
        system, *conversation = model.requests[3].body["messages"]
        assert (str(system).count("THE  PROMPT"), str(system).count("THE ANSWER")) == (1, 1)
        assert "THE  PROMPT" not in str(conversation)
        assert SUMMARY in str(conversation)


async def test_what_the_compaction_leaves_as_it_is_is_not_sent_twice(home: Path, project: Path) -> None:
    script = [Turn(text="One."), Turn(text="Two."), Turn(text=SUMMARY), Turn(text="Four.")]
    async with serving(home, project, script, compaction={"tail_turns": 1}) as (client, model):
        session = await client.create_session("named")
        for text in ("First.", "THE PROMPT"):
            await client.prompt(session["id"], text)
        prompt = (await client.messages(session["id"]))[2]["info"]["id"]
        await Pinned(client, session).pin(message=prompt)
        assert await summarize(client, session["id"]) is True
        await client.prompt(session["id"], "Third.")
        assert said(model.requests[3].body).count("THE PROMPT") == 1


async def test_notes_and_files_are_told_at_once_and_a_file_as_it_is(home: Path, project: Path) -> None:
    (project / "rules.txt").write_text("RULES ONE")
    (project / "gone.txt").write_text("AS IT WAS")
    answers = [Turn(text=f"Answer {number}.") for number in range(3)]
    async with serving(home, project, [*answers, Turn(text=SUMMARY), *answers]) as (client, model):
        session = await client.create_session("named")
        pinned = Pinned(client, session)
        await client.prompt(session["id"], "First.")
        await pinned.pin(text="A NOTE </pinned>")
        for name in ("rules.txt", "gone.txt"):
            assert "Pinned" in await pinned.pin(path=name)
        await client.prompt(session["id"], "Second.")
        told = said(model.requests[1].body)
        assert all(told.count(text) == 1 for text in ("A NOTE", "RULES ONE", "AS IT WAS"))
        (project / "rules.txt").write_text("RULES TWO")
        (project / "gone.txt").unlink()
        await client.prompt(session["id"], "Third.")
        assert "RULES TWO" not in said(model.requests[2].body), "what it has read is not told again"
        assert await summarize(client, session["id"]) is True
        await client.prompt(session["id"], "Fourth.")
        system = str(model.requests[4].body["messages"][0])
        assert all(system.count(text) == 1 for text in ("A NOTE", "RULES TWO", "AS IT WAS"))
        assert "RULES ONE" not in said(model.requests[4].body)
        assert "as it was when it was pinned" in system
        await pinned.unpin("gone.txt")
        await client.prompt(session["id"], "Fifth.")
        assert "AS IT WAS" not in said(model.requests[5].body)
        assert "A NOTE" in said(model.requests[5].body)
