"""What one browser tab shows of a project and of one of its sessions, kept true by frames.

Frames come from events (live) or from the rows that changed after a cursor (catching up); either way
they hold whole fragments that may be applied twice, except streamed text, which counts characters.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from django.conf import settings

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.store import family, inbox, messages, pins, provider_keys, session_folders, turns, waits
from sessions.core.store.events import before_late
from sessions.rendering.blocks import Update
from sessions.rendering.deeds import deeds_html
from sessions.rendering.highlight import SMALL
from sessions.rendering.messages import Place, foot_html, shell_html, undone_from
from sessions.rendering.notices import alarm, moved
from sessions.rendering.parts import (
    parent_id,
    part_html,
    placeholder_html,
    shown,
    streamed_html,
    summary_html,
)
from sessions.rendering.streams import PartStream
from sessions.web.access import find_session
from sessions.web.live import changes, presence
from sessions.web.live.changes import compact
from sessions.web.live.fragments import (
    ELSEWHERE,
    SIDEBAR_EVENTS,
    Fragment,
    all_fragments,
    renewed_by,
)
from sessions.web.live.frames import Frame
from sessions.web.live.states import LIST_NEWS, sidebar_item
from sessions.web.problems.panel import SAID, problems_said
from sessions.web.roots import beside

Wire = Mapping[str, Any]
P = ParamSpec("P")
T = TypeVar("T")
_OF_FILES = {"file.edited": "file", SAID: "path"}
"""Events of files by type, and where each has the file's path."""
GAP_WAIT = 0.1
"""Seconds after which a row is read again that lacks text: about the interval rows are flushed in."""


class LivePage:
    """`session_id` is empty on a page without a session. `beside` are the folders beside the project that are
    shown with it: of their files it is told, too. `person` is whose page it is, where a server has people.
    Give it only events that it `wants`."""

    def __init__(
        self,
        project_id: str,
        session_id: str,
        place: Place | None,
        beside: Collection[Path] = (),
        person: str = "",
    ) -> None:
        self._project_id = project_id
        self._session_id = session_id
        self._listed = ""
        self._place = place
        self._beside = beside
        self._person = person
        self._added: Any = None
        self._roles: dict[str, str] = {}
        self._streams: dict[str, PartStream] = {}
        self._stages: dict[str, str] = {}
        self._acting: set[str] = set()

    def wants(self, event: bus.Event) -> bool:
        """Whether an event changes anything here."""
        if event.project_id not in ("", self._project_id):
            return self._is_beside(event)
        if self._session_id in (event.session_id, event.properties.get("forSessionID")):
            return True
        if _is_alarm(event) or event.type == session_folders.CHANGED:
            return True
        return event.type in SIDEBAR_EVENTS or event.type in ELSEWHERE or event.type == "session.deleted"

    def _is_beside(self, event: bus.Event) -> bool:
        """Whether it tells of a file in a folder beside the project."""
        if not self._beside or event.type not in _OF_FILES:
            return False
        file = Path(event.properties[_OF_FILES[event.type]])
        return any(file.is_relative_to(folder) for folder in self._beside)

    async def catch_up(self, since: int, *, loads: bool = False) -> Frame:
        """All that changed after a cursor, read from the rows; a refresh when the log does not reach back.

        A page that `loads` asks by itself for what is in no row, and is told to only where something changed.
        """
        frame = Frame()
        since = await in_db(before_late, since)
        frame.seq, listed, otherwise = await in_db(changes.listed_since, since, self._project_id)
        if otherwise:
            frame.html.append(LIST_NEWS)
        await self._sidebar(frame, listed)
        if self._place is None:
            return frame
        await self._pins()
        # Read first: the message of what grows is then on the page, or among what has changed.
        growing = await in_db(changes.open_parts, self._session_id)
        found = await in_db(changes.changes_after, since, self._session_id)
        if found is None:
            frame.refresh = True
            return frame
        removed, message_ids, part_ids = found
        for part in growing:
            await _rendered(len(part["text"]), self._begin, frame, part)
        for element_id in removed:
            self._streams.pop(element_id, None)
            frame.remove(element_id)
        for info in await in_db(changes.message_rows, self._session_id, message_ids):
            await self._message(frame, info)
        for part in await in_db(changes.part_rows, self._session_id, part_ids):
            await self._part(frame, part)
        await self._deeds(frame)
        if self._person:
            frame.html.append(presence.presence.shown(self._session_id, self._person))
        for stream in self._streams.values():
            stream.doubt()
        fragments = all_fragments()
        if loads:
            fragments = await in_db(changes.renewed_since, since, self._project_id, self._session_id)
        await self._renew(frame, fragments)
        return frame

    async def apply(self, events: Sequence[bus.Event]) -> Frame:
        """The frame for events that have just come, oldest first; each fragment is in it once."""
        frame = Frame(seq=max((event.seq for event in events if event.seq), default=None))
        for event in events:
            if event.type == "session.deleted":
                frame.remove(f"{event.session_id}-item")
        await self._sidebar(frame, {event.session_id for event in events if event.type in SIDEBAR_EVENTS})
        own = [event for event in events if self._place and event.session_id == self._session_id]
        for event in compact(own):
            await self._detail(frame, event)
        await self._deeds(frame)
        if any(event.type == session_folders.CHANGED for event in events):
            frame.html.append(LIST_NEWS)
        frame.html += [alarm(event.properties["error"]) for event in events if _is_alarm(event)]
        if said := {event.properties["path"] for event in events if event.type == SAID}:
            frame.html.append(problems_said(said))
        renewing = [event.type for event in events if self._renews(event)]
        elsewhere = [event.type for event in events if not self._renews(event)]
        await self._renew(frame, renewed_by(renewing, elsewhere))
        return frame

    def due_in(self) -> float | None:
        """Seconds until `poll` has something to do; None when all is shown."""
        waits = [GAP_WAIT if stream.gap else stream.due_in() for stream in self._streams.values()]
        return min((wait for wait in waits if wait is not None), default=None)

    async def poll(self) -> Frame:
        """Text that was held back, and rows of parts with a gap."""
        frame = Frame()
        for part_id, stream in self._streams.items():
            if stream.gap:
                part = await in_db(messages.part, self._session_id, part_id)
                update = Update()
                if part:
                    update = await _rendered(len(part["text"]), stream.row, part["text"])
                frame.stream(part_id, update or await _rendered(stream.size, stream.poll))
            else:
                frame.stream(part_id, await _rendered(stream.size, stream.poll))
        return frame

    async def _detail(self, frame: Frame, event: bus.Event) -> None:
        assert self._place is not None
        properties = event.properties
        match event.type:
            case "message.part.delta":
                await self._delta(frame, properties)
            case "message.part.updated":
                await self._part(frame, properties["part"])
            case "message.updated":
                await self._message(frame, properties["info"])
            case "message.removed":
                frame.remove(properties["messageID"])
            case "message.part.removed":
                self._streams.pop(properties["partID"], None)
                frame.remove(properties["partID"])
            case "session.updated":
                revert = properties["info"].get("revert")
                self._place = replace(self._place, reverted_from=undone_from(revert))
                if properties["info"]["projectID"] != self._project_id:
                    frame.html.append(moved(properties["info"]))
                await self._look_beside(properties["info"].get("folders"))
            case "session.pins":
                await self._pins()
            case presence.CHANGED if self._person:
                frame.html.append(presence.presence.shown(self._session_id, self._person))

    async def _look_beside(self, added: Any) -> None:
        """`added` are the folders of the session as the wire has them."""
        if added == self._added:
            return
        self._added = added
        session = await in_db(find_session, self._project_id, self._session_id)
        if session is not None:
            self._beside = await beside(session.project, session)

    async def _pins(self) -> None:
        """Which messages are pinned now, before they are shown."""
        assert self._place is not None
        self._place = replace(self._place, pins=await in_db(pins.of_messages, self._session_id))

    async def _message(self, frame: Frame, info: Wire) -> None:
        assert self._place is not None
        self._roles[info["id"]] = info["role"]
        frame.ensure("messages", info["id"], shell_html(info, self._place))
        if info["role"] == "user":
            if settings.PEOPLE:
                senders = await in_db(inbox.senders, self._session_id)
                self._place = replace(self._place, senders=senders)
            frame.html.append(foot_html(info, self._place, oob=True))
            answer = await in_db(changes.last_answer, self._session_id, info["id"])
            if answer is not None:
                frame.html.append(await self._foot(answer, info))
            return
        if info["time"].get("completed"):
            await self._close_streams(frame, info["id"])
        if settings.PEOPLE:
            self._place = replace(self._place, payers=await in_db(provider_keys.payers, self._session_id))
        prompts = await in_db(changes.message_rows, self._session_id, [info.get("parentID", "")])
        frame.html.append(await self._foot(info, prompts[0] if prompts else None))

    async def _foot(self, answer: Wire, prompt: Wire | None) -> str:
        assert self._place is not None
        waited = await in_db(waits.of, self._session_id) if answer["time"].get("completed") else ()
        return foot_html(answer, self._place, prompt, waited, oob=True)

    async def _part(self, frame: Frame, part: Wire) -> None:
        if not shown(part):
            return
        self._note(part)
        role = await self._role(part["messageID"])
        if part["type"] in ("text", "reasoning") and role == "assistant":
            await _rendered(len(part["text"]), self._text_part, frame, part)
        else:
            self._replace(frame, part, self._whole(part, role))

    def _note(self, part: Wire) -> None:
        """That something is done, or is further than it was: not each line of what a command prints."""
        if part["type"] not in ("tool", "reasoning"):
            return
        ended = "ended" if (part.get("time") or {}).get("end") else "open"
        stage = part["state"]["status"] if part["type"] == "tool" else ended
        if self._stages.get(part["id"]) != stage:
            self._stages[part["id"]] = stage
            self._acting.add(part["messageID"])

    async def _deeds(self, frame: Frame) -> None:
        """The lines of the turns in which something was done, after all that they stand in."""
        acting, self._acting = self._acting, set()
        if acting:
            frame.html += await in_db(_deeds_lines, self._session_id, acting)

    def _text_part(self, frame: Frame, part: Wire) -> None:
        stream = self._streams.get(part["id"])
        if not (part.get("time") or {}).get("end"):
            if stream is None:
                self._begin(frame, part)
            else:
                frame.stream(part["id"], stream.row(part["text"]))
            return
        update = self._streams.pop(part["id"]).finish(part["text"]) if stream else None
        if update is None:
            self._replace(frame, part, self._whole(part, "assistant"))
            return
        frame.stream(part["id"], update)
        if part["type"] == "reasoning":
            frame.html.append(summary_html(part))

    def _begin(self, frame: Frame, part: Wire) -> PartStream:
        """First sight of a part that streams: show what its row has, so that reader and stream agree."""
        stream = self._streams[part["id"]] = PartStream(part["id"], part["messageID"])
        update = stream.row(part["text"])
        self._replace(frame, part, streamed_html(part, update.closed, update.open or "", oob=True))
        frame.stream(part["id"], Update(grown=update.grown))
        return stream

    async def _delta(self, frame: Frame, properties: Wire) -> None:
        part_id = properties["partID"]
        stream = self._streams.get(part_id)
        if stream is None:
            part = await in_db(messages.part, self._session_id, part_id)
            if part is None or not shown(part) or (part.get("time") or {}).get("end"):
                return
            stream = await _rendered(len(part["text"]), self._begin, frame, part)
        delta = properties["delta"]
        update = await _rendered(stream.size + len(delta), stream.delta, properties["offset"], delta)
        frame.stream(part_id, update)

    def _whole(self, part: Wire, role: str) -> str:
        assert self._place is not None
        return part_html(part, role, root=self._place.root, base=self._place.base, oob=True)

    def _replace(self, frame: Frame, part: Wire, html: str) -> None:
        frame.ensure(parent_id(part), part["id"], placeholder_html(part))
        frame.html.append(html)

    async def _close_streams(self, frame: Frame, message_id: str) -> None:
        """The message is complete: no more text comes for parts that were left open."""
        for part_id in [key for key, stream in self._streams.items() if stream.message_id == message_id]:
            stream = self._streams.pop(part_id)
            frame.stream(part_id, await _rendered(stream.size, stream.close))

    async def _role(self, message_id: str) -> str:
        if message_id not in self._roles:
            self._roles[message_id] = await in_db(changes.role_of, message_id)
        return self._roles[message_id]

    def _renews(self, event: bus.Event) -> bool:
        """A session shows its own state, the sessions it started, and what these ask the person."""
        if event.type in ("session.created", "session.deleted"):
            return bool(event.properties["info"].get("parentID") == self._session_id)
        if event.properties.get("forSessionID") == self._session_id:
            return True
        return event.session_id == self._session_id or event.type.startswith(("permission.", "question."))

    async def _renew(self, frame: Frame, fragments: Sequence[Fragment]) -> None:
        if fragments and self._place is not None:
            frame.html += await in_db(changes.rendered, self._session_id, fragments)

    async def _sidebar(self, frame: Frame, session_ids: Iterable[str]) -> None:
        for session_id in sorted(await in_db(family.roots, session_ids), reverse=True):
            if not self._listed and self._session_id:
                self._listed = "".join(await in_db(family.roots, [self._session_id]))
            html = await in_db(sidebar_item, session_id, self._project_id, current=self._listed)
            if html:
                frame.ensure("sessions-today", f"{session_id}-item", f'<li id="{session_id}-item"></li>')
                frame.html.append(html)
            else:
                frame.remove(f"{session_id}-item")


def _deeds_lines(session_id: str, message_ids: Collection[str]) -> list[str]:
    """Of the turns that these answers belong to."""
    deeds = turns.deeds(session_id, turns.begun_by(message_ids))
    waited = waits.of(session_id)
    return [deeds_html(prompt_id, done, waited, oob=True) for prompt_id, done in deeds.items()]


async def _rendered(size: int, render: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What becomes of a text of this size; a long one may wait for another process."""
    return await asyncio.to_thread(render, *args, **kwargs) if size > SMALL else render(*args, **kwargs)


def _is_alarm(event: bus.Event) -> bool:
    """An error that could not be written down, which no row will ever tell."""
    return event.type == "session.error" and event.seq is None
