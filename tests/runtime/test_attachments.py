"""Files that a prompt names by their address are read when it is promoted."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.loopback.script import Turn
from tests.server import serving

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
RULES = {"*": "allow", "read": {"*": "allow", "*.env": "ask", "secret.txt": "deny"}}


def attached(path: Path | str, query: str = "", **more: Any) -> dict[str, Any]:
    url = path if isinstance(path, str) else path.as_uri()
    return {"type": "file", "mime": "text/plain", "url": url + query, "filename": "it", **more}


async def test_what_is_attached_by_address(home: Path, project: Path) -> None:
    (project / "lines.txt").write_text("".join(f"line {number}\n" for number in range(1, 10)))
    (project / "a b#.txt").write_text("odd name\n")
    (project / "dot.png").write_bytes(PIXEL)
    (project / "secret.txt").write_text("hidden\n")
    (project / ".env").write_text("KEY=1\n")
    (project / "sub").mkdir()
    (project / "sub" / "inner.txt").touch()
    parts = [
        attached(project / "lines.txt", "?start=3&end=4"),
        attached(project / "lines.txt", "?start=8"),
        attached(project / "a b#.txt"),
        attached(project / "dot.png", mime="image/png"),
        attached(project / "sub", mime="application/x-directory"),
        attached(project / ".env"),
        attached(project / "secret.txt"),
        attached(project / "gone.txt"),
        attached(project / "lines.txt", "?start=77&end=78"),
        attached("file://elsewhere/lines.txt"),
        attached("file:///nul%00"),
        attached(project / "lines.txt", "?start=5&end=5", source={"type": "symbol", "range": [], "name": 3}),
        attached("https://example.org/x.txt"),
    ]
    async with serving(home, project, [Turn(text="Read.")], permission=RULES) as (client, model):
        session = await client.create_session(title="named")
        prompt = [{"type": "text", "text": "Read them."}, *parts]
        await client.post(f"/session/{session['id']}/message", {"parts": prompt})
        kept = (await client.messages(session["id"]))[0]["parts"]
        words = [part["text"] for part in kept if part.get("synthetic")]
        assert words[0] == (
            f"The user attached {project}/lines.txt (lines 3 to 4):\nlines.txt\n3: line 3\n4: line 4\n\n"
            "(lines 3-4 of 9; go on with offset 5)"
        )
        assert words[1].startswith(
            f"The user attached {project}/lines.txt (from line 8):\nlines.txt\n8: line 8"
        )
        assert "1: odd name" in words[2]
        assert words[3].endswith("/sub:\nsub/\ninner.txt")
        assert "1: KEY=1" in words[4], "who attaches it need not be asked"
        assert "secret.txt is not included. The permission rules of this session deny" in words[5]
        assert "gone.txt does not exist." in words[6]
        assert "there is no line 77" in words[7]
        assert "elsewhere is another machine." in words[8]
        assert "is not a usable path" in words[9]
        assert "(line 5):\nlines.txt\n5: line 5" in words[10]
        assert len(words) == 11

        files = [part for part in kept if part["type"] == "file"]
        assert [file["filename"] for file in files] == ["it"] * len(parts), "people see them all"
        assert files[3]["url"] == f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
        content = model.requests[0].body["messages"][-1]["content"]
        texts = [one["text"] for one in content if one["type"] == "text"]
        unread = "[The attachment it is not available: https://example.org/x.txt]"
        assert texts == ["Read them.", *words, unread]
        assert [one["type"] for one in content if one["type"] != "text"] == ["image_url"]
        assert "hidden" not in str(content)


async def test_a_prompt_that_nobody_answers_has_them_too(home: Path, project: Path) -> None:
    async with serving(home, project, []) as (client, model):
        session = await client.create_session(title="named")
        given = {"noReply": True, "parts": [attached(project / "hello.py")]}
        await client.post(f"/session/{session['id']}/message", given)
        (message,) = await client.messages(session["id"])
        assert [part["type"] for part in message["parts"]] == ["text", "file"]
        assert "def hello():" in message["parts"][0]["text"]
        assert model.requests == []
