"""What a conversation lacks as a whole: the end of what was still running, and sums of older versions."""

from __future__ import annotations

from .reading.records import Conversation, Wire, mapping, number, text

INTERRUPTED = "It was still running when it was imported."


def settle(message: Wire, parts: list[Wire]) -> bool:
    """End what nobody here goes on with: OpenCode was at work when it was read. Whether there was any."""
    runs = False
    ended = message["time"].get("completed") or message["time"]["created"]
    for part in parts:
        state = mapping(part.get("state"))
        if part["type"] == "tool" and state.get("status") in ("pending", "running"):
            started = mapping(state.get("time")).get("start", ended)
            time = {"start": started, "end": max(started, ended)}
            part["state"] = {**state, "status": "error", "error": INTERRUPTED, "time": time}
            runs = True
    if message["role"] == "assistant" and not message["time"].get("completed"):
        message["time"]["completed"] = ended
        runs = True
    return runs


def sum_up(read: Conversation) -> None:
    """Sums that older versions did not keep with the session, and what it changed with its last prompt."""
    info = read.info
    answers = [entry["info"] for entry in read.entries if entry["info"]["role"] == "assistant"]
    if "tokens" not in info:
        info["tokens"] = _tokens([mapping(answer.get("tokens")) for answer in answers])
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
