from __future__ import annotations

import json

from sessions.web.live.frames import Frame


def test_a_message_is_made_before_its_parts() -> None:
    """Of a quick turn only the last event of the message is left, which comes after those of its parts."""
    frame = Frame()
    frame.ensure("msg_1-parts", "prt_2", "<div id=prt_2></div>")
    frame.ensure("messages", "msg_1", "<article id=msg_1></article>")
    frame.ensure("msg_1-parts", "prt_1", "<div id=prt_1></div>")
    made = [element["id"] for element in json.loads(frame.json())["missing"]]
    assert made == ["msg_1", "prt_2", "prt_1"]
