"""An export without words: nothing of what was said is left, and it is still a conversation."""

from __future__ import annotations

import json

from sessions.transfer.writing.document import Document, as_json
from sessions.transfer.writing.sanitize import sanitized
from tests.sessions.transfer import making


def test_no_word_is_left_and_the_shape_is_kept() -> None:
    secret = "quokka"
    child = Document(making.session(f"/home/{secret}", title=secret), [])
    prompt = {"info": making.prompt(system=secret), "parts": [making.part("0", making.PROMPT, text=secret)]}
    given = [prompt, *making.conversation(f"/home/{secret}")]
    source = {"path": secret, "text": {"value": secret, "start": 0, "end": 6}}
    file = making.part("9", making.PROMPT, "file", mime="text/plain", url=f"file:///{secret}", source=source)
    given[0]["parts"].append(file)
    document = Document(making.session(f"/home/{secret}", title=secret), given, children=[child])
    out = as_json(sanitized(document))
    assert secret not in out
    made = json.loads(out)
    assert made["info"]["id"] == making.SESSION
    assert made["children"][0]["info"]["title"].startswith("[redacted:session-title:")
    [text, kept] = made["messages"][0]["parts"]
    assert text["text"] == "[redacted:text:prt_0]"
    assert kept["mime"] == "text/plain"
    assert kept["source"]["text"]["start"] == 0
    call = next(part for entry in made["messages"] for part in entry["parts"] if part["type"] == "tool")
    assert call["tool"] == "list"
    assert call["state"]["input"] == {"redacted": f"tool-input:{call['id']}"}
    assert call["state"]["status"] == "completed"
