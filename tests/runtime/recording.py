"""An answer that has just begun, to be written by a test."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.agent.run import Children, Run
from agents.agent.steps.history import Transcript
from agents.agent.steps.recorder import Recorder
from agents.toolkit.turn import Turn
from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.models import Message
from sessions.core.store.rows import message_info
from sessions.core.wire.messages import UserMessage
from tests.agents.tools.context import turn_in
from tests.sessions.talk import Talk


async def never(_: str) -> None:
    raise AssertionError("there are no child sessions here")


async def recording(folder: Path) -> tuple[Recorder, Turn]:
    """In a new session of a folder, with the turn that it belongs to."""
    talk = await Talk.begin(folder)
    await talk.prompt()
    prompt = await in_db(message_info, await Message.objects.aget(session=talk.session, role="user"))
    assert isinstance(prompt, UserMessage)
    tracked = await asyncio.to_thread(tracker, talk.project)
    run = Run(talk.session, tracked, Children(never, lambda _: None), Transcript(talk.session.id))
    turn = turn_in(folder, folder, session=talk.session)
    recorder = await Recorder.open(run, prompt, turn)
    await recorder.started()
    return recorder, turn
