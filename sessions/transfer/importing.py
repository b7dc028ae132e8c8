"""Carry out an import: session after session, each read apart and written in one transaction."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db import DataError, IntegrityError, OperationalError
from pydantic import ValidationError

from sessions.core.db import in_db
from sessions.core.sentences import Sentence, sentence_of
from sessions.core.store import importing
from sessions.core.store.folders import NotTaken
from sessions.core.store.importing import Known, Outcome
from sessions.core.wire.messages import MESSAGE
from sessions.core.wire.parts import PART
from sessions.transfer.job import Job, Progress
from sessions.transfer.plan import Choice, Planned, Surveyed, plan
from sessions.transfer.reading.records import (
    BESIDE_TEXT,
    Conversation,
    Problem,
    Source,
    Unreadable,
    Wire,
    is_number,
    mapping,
    number,
    text,
)
from sessions.transfer.snapshots import put_changes

WRITE_EVERY = 0.4
"""Seconds between two notes of the progress."""

Told = Callable[[Progress, Problem | None], None]
_LEFT = {
    "newer": Sentence("was continued here; it stays as it is here"),
    "diverged": Sentence(
        "was continued here and in OpenCode; it stays as it is here (a copy can be put beside it)"
    ),
    "deleted": Sentence("was deleted here; name it to have it back"),
    "running": Sentence("is at work here; import it again when it has ended"),
}


class Import:
    """`tell` hears of each session and of each problem, on the event loop. With `copies`, of a session that
    was continued here and in OpenCode the other side is put beside it."""

    def __init__(
        self,
        surveyed: Sequence[Surveyed],
        choice: Choice,
        tell: Told,
        *,
        dry: bool = False,
        copies: bool = False,
    ) -> None:
        self._surveyed = surveyed
        self._choice = choice
        self._tell = tell
        self._copies = copies
        self._job = Job()
        self._here: dict[str, Known] = {}
        self._listed = {header.id for one in surveyed for header in one.headers}
        self._noted = 0.0
        self.progress = Progress(dry=dry)

    async def run(self) -> Progress:
        """Returns how it ended; what was imported before a cancellation or failure stays. Raises Busy and
        CannotWrite before anything is done."""
        with self._job.alone():
            try:
                await self._every()
                if self.progress.state == "running":
                    self.progress.state = "done"
            except OperationalError as error:
                self.progress.state, self.progress.error = (
                    "failed",
                    Sentence("The database cannot be written: %(error)s", error=error),
                )
            finally:
                if self.progress.state == "running":
                    self.progress.state = "cancelled"
                for one in self._surveyed:
                    one.source.close()
                self.progress.current = ""
                self._job.write(self.progress)
        return self.progress

    async def _every(self) -> None:
        planned = plan(self._surveyed, self._choice)
        self.progress.total = len(planned)
        self._name_missing(planned)
        self._here = await in_db(importing.known, [item.header.id for item in planned])
        for item in planned:
            if self._job.cancelled():
                self.progress.state = "cancelled"
                return
            self.progress.current = item.header.title
            await self._one(item)
            self.progress.done += 1
            self._note()
        if not self._choice:
            await self._leftovers()

    async def _one(self, item: Planned) -> None:
        where = f"session/{item.header.id}"
        if self._is_here(item):
            self.progress.count("same")
            return
        try:
            read = await asyncio.to_thread(_read, item)
            self._name_orphan(item)
            for problem in read.problems:
                self._name(problem)
            outcome = await self._put(read)
            if outcome == "diverged" and self._copies:
                read = beside(read)
                outcome = await self._put(read)
        except (Unreadable, NotTaken) as error:
            self._name(Problem(where, sentence_of(error)))
            self.progress.count("unreadable")
        except (IntegrityError, DataError, ValueError, OverflowError) as error:
            self._name(Problem(where, Sentence("the database refuses it: %(error)s", error=error)))
            self.progress.count("unreadable")
        else:
            self.progress.count(outcome)
            self.progress.messages += len(read.entries) if outcome in ("imported", "updated") else 0
            if outcome in _LEFT:
                self._name(Problem(where, _LEFT[outcome], lost=False))

    async def _put(self, read: Conversation) -> Outcome:
        wanted = read.info["id"] in self._choice.sessions
        if self.progress.dry:
            ids = {entry["info"]["id"] for entry in read.entries}
            return await in_db(importing.would_be, read.info, ids, deleted_too=wanted)
        outcome = await in_db(
            importing.put,
            read.info,
            read.entries,
            read.todos,
            worktree=read.worktree,
            deleted_too=wanted,
        )
        if outcome in ("imported", "updated"):
            await asyncio.to_thread(put_changes, read)
        return outcome

    def _is_here(self, item: Planned) -> bool:
        """By what the list says, so that an import that was interrupted goes on where it stopped."""
        here, header = self._here.get(header_id := item.header.id), item.header
        if here is None or here.deleted or header_id in self._choice.sessions:
            return False
        return here.messages == header.messages and here.updated == header.updated

    def _name_missing(self, planned: Sequence[Planned]) -> None:
        for one in self._surveyed:
            if one.error:
                self._name(Problem(str(one.source.path), one.error))
            for problem in one.source.problems:
                self._name(problem)
        known = {item.header.id for item in planned}
        for session in sorted(self._choice.sessions - known):
            self._name(Problem(f"session/{session}", Sentence("is in none of the sources")))

    def _name_orphan(self, item: Planned) -> None:
        parent = item.header.parent
        if parent and parent not in self._listed:
            self._name(
                Problem(
                    f"session/{item.header.id}",
                    Sentence("its parent %(parent)s is missing", parent=parent[:40]),
                )
            )

    async def _leftovers(self) -> None:
        for one in self._surveyed:
            if not one.error:
                for problem in await asyncio.to_thread(_leftovers, one.source, one):
                    self._name(problem)

    def _name(self, problem: Problem) -> None:
        self.progress.name(problem)
        self._tell(self.progress, problem)

    def _note(self) -> None:
        self._tell(self.progress, None)
        if time.monotonic() - self._noted > WRITE_EVERY:
            self._noted = time.monotonic()
            self._job.write(self.progress)


def _read(item: Planned) -> Conversation:
    """In form. A session that was at work gets an earlier time, so that the next import looks again."""
    read = item.source.read(item.header)
    if shape(read):
        read.info["time"]["updated"] -= 1
    return read


_COPY = "-2"
"""At the end of each id of a copy: they stay in order, and the next import finds the same copy again."""
_LONGEST = 32


def beside(read: Conversation) -> Conversation:
    """The same conversation under ids of its own. Raises Unreadable for ids that no more can be put to."""
    records = [entry["info"] for entry in read.entries]
    records += [part for entry in read.entries for part in entry["parts"]]
    ids = {record["id"] for record in (read.info, *records)}
    if any(len(id) + len(_COPY) > _LONGEST for id in ids):
        raise Unreadable(Sentence("its ids are too long for a copy"))

    def renamed(record: Wire) -> Wire:
        return {
            key: f"{value}{_COPY}" if isinstance(value, str) and value in ids else value
            for key, value in record.items()
        }

    info = {**renamed(read.info), "title": f"{read.info['title']} (from OpenCode)"}
    if revert := read.info.get("revert"):
        info["revert"] = renamed(revert)
    entries = [
        {"info": renamed(entry["info"]), "parts": [renamed(part) for part in entry["parts"]]}
        for entry in read.entries
    ]
    return replace(read, info=info, entries=entries)


def _leftovers(source: Source, one: Surveyed) -> list[Problem]:
    try:
        return list(source.leftovers(one.headers))
    except (Unreadable, OSError) as error:
        return [Problem(str(source.path), str(error))]


# Records of any version of OpenCode made into what the store takes: gaps of older ones filled.
#
# A record of a known kind is held against the wire's own model, so that the page and the agent can rely on
# it;
# fields that the model does not know are kept, and so are parts of an unknown kind.

_ID = re.compile(r"(?:ses|msg|prt)[A-Za-z0-9_-]{1,29}")
_PARTS = frozenset(
    "text reasoning file tool step-start step-finish patch snapshot subtask agent retry compaction".split()
)


def shape(read: Conversation) -> bool:
    """Bring a conversation into form, in place; what cannot be taken is named in its `problems`.

    Returns whether something of it was still running. Raises Unreadable when nothing of it can be taken.
    """
    info = read.info
    if not _is_id(info.get("id"), "ses"):
        raise Unreadable(
            Sentence("its id %(value)s is none of a session", value=repr(str(info.get("id"))[:40]))
        )
    _fill_session(read)
    entries, last, runs = [], "", False
    for entry in read.entries:
        message = _taken(entry["info"], f"message/{entry['info'].get('id')}", read, _message_of(read, last))
        if message is None:
            continue
        last = message["id"] if message["role"] == "user" else last
        parts = list(_parts(entry["parts"], message, read))
        runs |= importing.settle(message, parts)
        entries.append({"info": message, "parts": parts})
    read.entries = entries
    _fill_revert(read)
    sum_up(read)
    return runs


def _fill_session(read: Conversation) -> None:
    info, where = read.info, f"session/{read.info['id']}"
    _leave_wrong_numbers(read, where)
    time = mapping(info.get("time"))
    created = number(time.get("created")) or _first_time(read)
    info["time"] = {**time, "created": created, "updated": number(time.get("updated")) or created}
    info["title"] = text(info.get("title")) or "Untitled"
    info["model"] = mapping(info.get("model"))
    rules = info.get("permission")
    info["permission"] = rules if isinstance(rules, list) else []
    for rule in info["permission"]:
        if mapping(rule).get("action") == "allow":
            what = f"{rule.get('permission')} {rule.get('pattern')}"[:80]
            read.problems.append(
                Problem(
                    where, Sentence("its rule to allow %(what)s was left out", what=repr(what)), lost=False
                )
            )
    if url := text(mapping(info.pop("share", None)).get("url")):
        said = Sentence("it is shared by OpenCode at %(url)s; only OpenCode can end that", url=url[:200])
        read.problems.append(Problem(where, said, lost=False))


def _leave_wrong_numbers(read: Conversation, where: str) -> None:
    """One wrong number is no reason to leave a session; sums and times are made anew from the messages."""
    info, time, tokens = read.info, mapping(read.info.get("time")), mapping(read.info.get("tokens"))
    wrong = {
        f"time.{key}": time.pop(key) for key in ("created", "updated", "archived") if _is_odd(time.get(key))
    }
    if _is_odd(info.get("cost")):
        wrong["cost"] = info.pop("cost")
    counts = {**tokens, **{f"cache.{key}": count for key, count in mapping(tokens.get("cache")).items()}}
    odd = {f"tokens.{key}": count for key, count in counts.items() if key != "cache" and _is_odd(count)}
    if odd:
        info.pop("tokens")
    for name, value in (wrong | odd).items():
        read.problems.append(
            Problem(
                where,
                Sentence("its %(name)s is no number here: %(value)s", name=name, value=repr(str(value)[:40])),
            )
        )


def _is_odd(value: Any) -> bool:
    return value is not None and not is_number(value)


def _fill_revert(read: Conversation) -> None:
    """What of the conversation is undone; an undo from a message that is missing undoes nothing."""
    revert = mapping(read.info.pop("revert", None))
    undone = {
        key: revert[key] for key in ("messageID", "partID", "snapshot", "diff") if text(revert.get(key))
    }
    if undone.get("messageID") in {entry["info"]["id"] for entry in read.entries}:
        read.info["revert"] = undone
    elif revert:
        reason = Sentence("what was undone in it counts again: the message that this began at is missing")
        read.problems.append(Problem(f"session/{read.info['id']}", reason))


def _first_time(read: Conversation) -> int:
    times = (number(mapping(entry["info"].get("time")).get("created")) for entry in read.entries)
    return next(filter(None, times), 0)


def _message_of(read: Conversation, asked: str) -> Callable[[Wire], Wire]:
    """Fills what messages of older versions lack; `asked` is the prompt before this one."""

    def filled(info: Wire) -> Wire:
        if info.get("role") not in ("user", "assistant"):
            raise Unreadable(
                Sentence("its role %(value)s is not known", value=repr(str(info.get("role"))[:40]))
            )
        times = mapping(info.get("time"))
        base = {
            **info,
            "sessionID": read.info["id"],
            "time": {**times, "created": number(times.get("created")) or read.info["time"]["created"]},
        }
        return _prompt(base, read) if info["role"] == "user" else _answer(base, read, asked)

    return filled


def _prompt(info: Wire, read: Conversation) -> Wire:
    model = mapping(info.get("model"))
    if not text(model.get("modelID")):
        model = _next_model(info["id"], read)
    return {**info, "agent": text(info.get("agent")) or text(info.get("mode")) or "build", "model": model}


def _next_model(message: str, read: Conversation) -> Wire:
    """The model that answered."""
    infos = (entry["info"] for entry in read.entries)
    answers = (info for info in infos if info.get("role") == "assistant" and text(info.get("modelID")))
    for info in answers:
        if text(info.get("id")) > message:
            return {"providerID": text(info.get("providerID")) or "unknown", "modelID": info["modelID"]}
    return {"providerID": "unknown", "modelID": "unknown"}


def _answer(info: Wire, read: Conversation, asked: str) -> Wire:
    mode = text(info.get("mode")) or text(info.get("agent")) or "build"
    folder = text(read.info.get("directory"))
    filled: Wire = {
        "mode": mode,
        "agent": text(info.get("agent")) or mode,
        "parentID": text(info.get("parentID")) or asked,
        "modelID": text(info.get("modelID")) or "unknown",
        "providerID": text(info.get("providerID")) or "unknown",
        "path": {"cwd": folder, "root": read.worktree or folder, **mapping(info.get("path"))},
    }
    if "summary" in info:
        filled["summary"] = bool(info["summary"])
    return {**info, **filled}


def _parts(parts: list[Wire], message: Wire, read: Conversation) -> Iterator[Wire]:
    seen = set()
    for part in parts:
        where = f"part/{part.get('id')}"
        taken = _taken(part, where, read, lambda given: _part(given, message))
        if taken is not None and taken["id"] not in seen:
            seen.add(taken["id"])
            yield taken


def _part(part: Wire, message: Wire) -> Wire:
    base = {**part, "sessionID": message["sessionID"], "messageID": message["id"]}
    moment = message["time"]["created"]
    match part.get("type"):
        case "tool":
            return {**base, "callID": text(part.get("callID")) or part["id"], "state": _state(part, moment)}
        case "reasoning":
            return {"time": {"start": moment}, **base, "metadata": _reasoning(mapping(part.get("metadata")))}
        case "step-finish":
            return {"reason": "unknown", **base}
        case "file":
            return {"mime": "application/octet-stream", **base}
        case str(kind) if kind:
            return base
    raise Unreadable(Sentence("it has no type"))


def _reasoning(metadata: Wire) -> Wire:
    """What a reasoning goes back to its model with; OpenCode keeps what belongs to a provider by its name."""
    if not metadata:
        return dict(BESIDE_TEXT)
    theirs = mapping(metadata.get("anthropic"))
    found = {"signature": theirs.get("signature"), "redacted": theirs.get("redactedData")}
    return metadata | {key: value for key, value in found.items() if text(value)}


def _state(part: Wire, moment: int) -> Wire:
    state = mapping(part.get("state"))
    filled = {**state, "input": mapping(state.get("input"))}
    if state.get("status") == "completed":
        filled = {"title": "", "output": "", "metadata": {}, **filled}
    if state.get("status") == "error":
        filled = {"error": "", **filled}
    if state.get("status") in ("running", "completed", "error"):
        filled["time"] = {"start": moment, **mapping(state.get("time"))}
    return filled


def _taken(record: Wire, where: str, read: Conversation, fill: Callable[[Wire], Wire]) -> Wire | None:
    """The record in form, or None with a line in `problems`."""
    kind = "msg" if where.startswith("message/") else "prt"
    try:
        if not _is_id(record.get("id"), kind):
            raise Unreadable(
                Sentence("its id %(value)s is none of its kind", value=repr(str(record.get("id"))[:40]))
            )
        return _valid(fill(record), kind)
    except Unreadable as error:
        read.problems.append(Problem(where, str(error)))
        return None


def _valid(record: Wire, kind: str) -> Wire:
    """As it is when it is sound, by its model's own reading when only a number came as text or the like."""
    if kind == "prt" and record["type"] not in _PARTS:
        return record
    adapter: Any = MESSAGE if kind == "msg" else PART
    try:
        adapter.validate_python(record, strict=True)
        return record
    except ValidationError:
        pass
    try:
        return dict(adapter.validate_python(record).wire())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(step) for step in first["loc"])
        raise Unreadable(f"{where}: {first['msg']}") from error


def _is_id(value: Any, prefix: str) -> bool:
    return isinstance(value, str) and value.startswith(prefix) and _ID.fullmatch(value) is not None


# What a conversation lacks as a whole: sums of older versions.


def sum_up(read: Conversation) -> None:
    """Sums that older versions did not keep with the session, and what it changed with its last prompt."""
    info = read.info
    answers = [entry["info"] for entry in read.entries if entry["info"]["role"] == "assistant"]
    if "tokens" not in info:
        info["tokens"] = _tokens([mapping(answer.get("tokens")) for answer in answers])
    if info.get("cost") is None:
        info["cost"] = sum(answer.get("cost") or 0 for answer in answers)
    diffs = [diff for diff in read.diffs if text(diff.get("file"))]
    summary = mapping(info.get("summary"))
    info["summary"] = {key: value for key, value in summary.items() if key != "diffs"}
    if not diffs:
        return
    if not info["summary"]:
        sums = {key: sum(number(diff.get(key)) for diff in diffs) for key in ("additions", "deletions")}
        info["summary"] = {**sums, "files": len(diffs)}
    prompts = [entry["info"] for entry in read.entries if entry["info"]["role"] == "user"]
    if prompts and not any(mapping(prompt.get("summary")).get("diffs") for prompt in prompts):
        prompts[-1]["summary"] = {**mapping(prompts[-1].get("summary")), "diffs": diffs}


def _tokens(counts: list[Wire]) -> Wire:
    caches = [mapping(count.get("cache")) for count in counts]
    sums = {key: sum(number(count.get(key)) for count in counts) for key in ("input", "output", "reasoning")}
    return {
        **sums,
        "cache": {key: sum(number(cache.get(key)) for cache in caches) for key in ("read", "write")},
    }
