"""Turns with a real language server: the model is told of its errors, and asks about code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.agents.servers.lsp.uses import places
from tests.agents.servers.lsp.uses.places import CODE
from tests.loopback.script import ToolUse, Turn
from tests.server import parts_of, serving

WRONG = CODE.replace("times = 1", "times: int = 'one'")


def sent(request: Any) -> str:
    """The last message of a request to the model."""
    return str(request.body["messages"][-1]["content"])


async def test_an_error_is_told_and_mended_and_a_symbol_attached(
    home: Path, project: Path, user_environ: dict[str, str]
) -> None:
    mend = {"filePath": "code_of.py", "oldString": "times: int = 'one'", "newString": "times = 1"}
    ask = {"operation": "findReferences", "filePath": "code_of.py", "line": 1, "character": 5}
    script = [
        Turn(tools=[ToolUse("write", {"filePath": "code_of.py", "content": WRONG})]),
        Turn(tools=[ToolUse("edit", mend)]),
        Turn(tools=[ToolUse("lsp", ask)]),
        Turn(text="Mended."),
        Turn(text="I see it."),
    ]
    config = {"lsp": places.basedpyright(user_environ), "experimental": {"lsp_timeout": 25_000}}
    async with serving(home, project, script, **config) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Write it.")
        written, mended, asked = parts_of(await client.messages(session["id"]), "tool")
        told = "Errors in code_of.py as it is now, found by its language server:\n  2:18 Type "
        assert told in written["state"]["output"]
        assert told in sent(model.requests[1])
        file = str(project / "code_of.py")
        errors = [item for item in written["state"]["metadata"]["diagnostics"][file] if item["severity"] == 1]
        assert [item["code"] for item in errors] == ["reportAssignmentType"]
        assert mended["state"]["output"] == "Edited code_of.py: 1 place (line 2)."
        assert "lsp" in {tool["function"]["name"] for tool in model.requests[0].body["tools"]}
        assert 'code_of.py:8:16: return hello("you")' in asked["state"]["output"]

        found = await client.get("/find/symbol", query="greet")
        assert [(item["name"], item["kind"]) for item in found] == [("greet", 6), ("Greeter", 5)]
        part = _attached(found[0])
        given = {"parts": [{"type": "text", "text": "@greet?"}, part]}
        await client.post(f"/session/{session['id']}/message", given)
        question = (await client.messages(session["id"]))[-2]
        said, kept = [one for one in question["parts"] if one.get("synthetic") or one["type"] == "file"]
        assert said["text"].startswith(
            f"The user attached {file}, greet (lines 7 to 8):\ncode_of.py\n7:     def greet(self)"
        )
        assert "9:" not in said["text"]
        assert {name: kept[name] for name in part} == part
        assert sent(model.requests[-1]).count(said["text"]) == 1


def _attached(symbol: dict[str, Any]) -> dict[str, Any]:
    """As the completion makes it of a symbol."""
    place, uri = symbol["location"]["range"], symbol["location"]["uri"]
    line = place["start"]["line"] + 1
    text = {"value": "@greet", "start": 0, "end": 6}
    source = {"type": "symbol", "path": uri.removeprefix("file://"), "range": place, "text": text}
    source |= {"name": symbol["name"], "kind": symbol["kind"]}
    url = f"{uri}?start={line}&end={line}"
    return {"type": "file", "mime": "text/plain", "url": url, "filename": "code_of.py", "source": source}
