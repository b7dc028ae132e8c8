"""The rooms around the hostile conversation: review mode, comments, verdicts, rules, worktrees."""

from __future__ import annotations

import asyncio
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import httpx

from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.audit import HOSTILE
from tests.opencode_web.site.security.stage import CONTROL, NAME, Stage
from tests.server import PATIENCE, parts_of

BRANCH = "x'\"><pwned-onpwned=1>"
RULED = f"ruled{NAME}"
PATTERN = "ruled'\"><pwned onpwned=1>*"


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True)


def set_trap(project: Path) -> None:
    """Name a program wherever git or ripgrep would start one."""
    trap = project / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch '{project}/SPRUNG'\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "filter.x.clean", "filter.x.smudge"):
        subprocess.run(["git", "config", name, str(trap)], cwd=project, check=True)
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    (project / ".git" / "hooks" / "post-index-change").symlink_to(trap)
    (project / ".gitattributes").write_text("* filter=x diff=x\n")
    (project / ".ripgreprc").write_text(f"--pre={trap}\n")


def script() -> list[Turn]:
    """A turn that asks, answered with a rule; one in review mode; two attempts of a comparison."""
    return [
        Turn(tools=[ToolUse("write", {"filePath": RULED, "content": HOSTILE + CONTROL})]),
        Turn(text="Done."),
        Turn(
            tools=[
                ToolUse("write", {"filePath": f"staged{NAME}", "content": HOSTILE + CONTROL}),
                ToolUse("write", {"filePath": "data.txt", "content": HOSTILE + CONTROL}),
            ]
        ),
        Turn(text="Done."),
        Turn(tools=[ToolUse("write", {"filePath": f"tried{NAME}", "content": HOSTILE + CONTROL})]),
        Turn(text=HOSTILE),
        Turn(text=HOSTILE),
    ]


async def fill(stage: Stage) -> None:
    """After the first turn, with the turns of `script` ahead; ids go into `stage.ids`."""
    await _rule(stage)
    await _verdict(stage)
    await _comment(stage)
    await _worktree(stage)
    await _staged(stage)
    await _folder(stage)
    await _schedule(stage)
    await _comparison(stage)


async def _rule(stage: Stage) -> None:
    asked = await stage.ask()
    form = {"answer": "always", "hash": asked["hash"], "scope": "session", "pattern": PATTERN}
    async with stage.client.events() as events:
        await done(stage.browser.change(f"/permissions/{asked['id']}/reply", **form))
        async for event in events:
            if event.type == "session.idle":
                break
    page = (await stage.browser.get(f"/p/{stage.project}/rules")).text
    stage.ids["rule"] = found(r'id="rule-(\d+)"', page)


async def _verdict(stage: Stage) -> None:
    """What a hostile edit did is taken back, with hostile words."""
    path, words = f"new{NAME}", HOSTILE + CONTROL
    await done(stage.browser.change(f"{stage.base}/review/undo", path=path, words=words))
    log = (await stage.browser.get(f"/p/{stage.project}/log")).text
    stage.ids["operation"] = found(r"/log/operations/(opn_\w+)/invert", log)
    parts = parts_of(stage.history, "tool")
    stage.ids["call"] = next(part["id"] for part in parts if part["tool"] == "edit")
    stage.ids["answer"] = next(part["messageID"] for part in parts if part["tool"] == "edit")


async def _comment(stage: Stage) -> None:
    lines = {"path": NAME, "step": "0", "side": "new", "start": "1", "end": "2"}
    text = HOSTILE + CONTROL
    await done(stage.browser.change(f"{stage.base}/comments", **lines, text=text))
    page = (await stage.browser.get(f"{stage.base}/review")).text
    stage.ids["comment"] = found(r'id="(cmt_\w+|[a-z]+_\w+)" class="comment"', page)


async def _worktree(stage: Stage) -> None:
    """A fork with files; in its worktree a hostile branch, commit and file."""
    answer = await done(stage.browser.change(f"{stage.base}/fork", **{"with": "files"}))
    made = re.search(r'"project": "(\w+)", "session": "(\w+)"', answer.headers["HX-Trigger"])
    assert made is not None
    stage.ids["worktree"], stage.ids["fork"] = made[1], made[2]
    session = await stage.client.session(made[2])
    folder = Path(session["directory"])
    git(folder, "checkout", "-q", "-b", f"{BRANCH}fork")
    git(folder, "commit", "-q", "--allow-empty", "-m", HOSTILE)
    (folder / f"loose{NAME}").write_text(HOSTILE)


async def _staged(stage: Stage) -> None:
    created = await stage.client.create_session(HOSTILE + CONTROL)
    stage.ids["staged"] = created["id"]
    await stage.client.http.patch(f"/session/{created['id']}", json={"staging": True})
    await stage.client.prompt(created["id"], HOSTILE + CONTROL)


async def _folder(stage: Stage) -> None:
    form = {"folder": "new", "name": HOSTILE[:40], "colour": "red"}
    await done(stage.browser.change(f"/p/{stage.project}/sessions/folder", **form))
    stage.ids["folder"] = found(r'data-folder="(fld_\w+)"', (await stage.browser.get(stage.base)).text)


async def _comparison(stage: Stage) -> None:
    """Of a hostile task, with a check that says hostile things."""
    check = f"printf %s {shlex.quote(HOSTILE + CONTROL)}; false"
    body = {
        "prompt": HOSTILE + CONTROL,
        "attempts": [{}, {}],
        "checks": [check],
        "judge": "none",
        "atOnce": 1,
    }
    made = await stage.client.post("/comparison", body)
    stage.ids["comparison"] = made["id"]
    async with asyncio.timeout(PATIENCE):
        while made["state"] != "done":
            made = await stage.client.get(f"/comparison/{made['id']}")
    assert [one["files"] for one in made["attempts"]] == [1, 0]


async def done(answer: Any) -> httpx.Response:
    response: httpx.Response = await answer
    assert response.status_code < 400, response.text
    return response


def found(pattern: str, page: str) -> str:
    match = re.search(pattern, page)
    assert match is not None, page
    return match[1]


async def _schedule(stage: Stage) -> None:
    """One that no time begins, and whose address nobody has."""
    when = {"kind": "hook", "rule": HOSTILE, "timezone": "UTC"}
    given = {"name": (HOSTILE + CONTROL)[:200], "when": when, "prompt": HOSTILE + CONTROL, "model": NAME}
    stage.ids["schedule"] = str((await stage.client.post("/schedule", given))["id"])
