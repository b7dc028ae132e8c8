"""Long conversations that nobody had: in OpenCode's export format, taken over by each server's own import."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.lab import Lab, Server
from bench.targets import OPENCODE_VERSION

BEGAN_MS = 1_760_000_000_000
SECOND_MS = 1000
Json = dict[str, Any]


class NotImported(Exception):
    """What the import said."""


def last_words(session: str) -> str:
    """What the last answer of a conversation ends with, and nothing else on a page has in it."""
    return f"The end of {session}."


Answer = Callable[[Path, int, int, str], Iterator[Json]]
"""The parts of an answer: of the project, by the number of the message, its time (ms) and its last words."""


async def imported(lab: Lab, server: Server, name: str, messages: int, answer: Answer | None = None) -> str:
    """A session with so many messages (whole turns); its id is the same everywhere. Raises NotImported."""
    messages -= messages % 2
    session = f"ses_{name:0>26}"
    file = lab.folder / f"{session}.json"
    file.write_text(json.dumps(_export(session, lab.project, messages, answer or _answer)))
    process = await asyncio.create_subprocess_exec(
        *lab.target.importing,
        file,
        cwd=lab.project,
        env=server.environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    if process.returncode:
        raise NotImported(said.decode(errors="replace").strip()[-500:])
    return session


def _export(session: str, project: Path, messages: int, answer: Answer) -> Json:
    return {
        "info": {
            "id": session,
            "slug": session,
            "projectID": "global",
            "directory": str(project),
            "title": f"Conversation {session}",
            "version": OPENCODE_VERSION,
            "time": {"created": BEGAN_MS, "updated": BEGAN_MS + messages * SECOND_MS},
        },
        "messages": [_message(session, project, number, messages, answer) for number in range(messages)],
    }


def _message(session: str, project: Path, number: int, messages: int, answer: Answer) -> Json:
    """A question, or the answer to the one before."""
    own = {"id": _id("msg", session, number), "sessionID": session}
    model = {"providerID": "bench", "modelID": "bench"}
    at = BEGAN_MS + number * SECOND_MS
    if number % 2 == 0:
        info: Json = {**own, "role": "user", "time": {"created": at}, "agent": "build", "model": model}
        parts = [{"type": "text", "text": f"What does module {number} do, and who calls it?"}]
    else:
        tokens = {"input": 10, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        info = {
            **own,
            **model,
            "role": "assistant",
            "parentID": _id("msg", session, number - 1),
            "time": {"created": at, "completed": at + SECOND_MS},
            "agent": "build",
            "mode": "build",
            "path": {"cwd": str(project), "root": str(project)},
            "cost": 0,
            "tokens": tokens,
            "finish": "stop",
        }
        end = last_words(session) if number == messages - 1 else ""
        parts = list(answer(project, number, at, end))
    for index, part in enumerate(parts):
        part.update(id=_id("prt", session, number * 10 + index), messageID=own["id"], sessionID=session)
    return {"info": info, "parts": parts}


def _answer(project: Path, number: int, at: int, end: str) -> Iterator[Json]:
    """Every second one has looked into a file."""
    time = {"start": at, "end": at + SECOND_MS}
    code = "\n".join(f"    value_{line} = compute({number}, {line})" for line in range(8))
    if number % 4 == 1:
        path = str(project / f"module_{number}.py")
        read = {"status": "completed", "input": {"filePath": path}, "output": code, "title": path}
        state = {**read, "metadata": {}, "time": time}
        yield {"type": "tool", "callID": f"call_{number}", "tool": "read", "state": state}
    points = "\n".join(f"- `caller_{line}` asks it for **value {line}**" for line in range(3))
    text = (
        f"Module {number} computes eight values.\n\n{points}\n\n```python\ndef run():\n{code}\n```\n\n{end}"
    )
    yield {"type": "text", "text": text, "time": time}


def _id(kind: str, session: str, number: int) -> str:
    return f"{kind}_{session[-10:]}{number:016}"
