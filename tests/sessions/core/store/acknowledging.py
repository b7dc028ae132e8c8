"""`python -m` this says what it acknowledged, a line each, and kills itself.

It begins a database of its own in the data folder of the environment.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import django


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    django.setup()

    from opencode_web.site import database
    from sessions.core.db import in_db_sync
    from sessions.core.store import inbox, permissions, projects, questions
    from sessions.core.store import sessions as session_store
    from sessions.core.wire.questions import QuestionInfo, QuestionOption
    from sessions.core.wire.session import Status

    def said(what: str, id: str) -> None:
        os.write(sys.stdout.fileno(), f"{what} {id}\n".encode())

    database.prepare()
    project = in_db_sync(projects.open_project, Path.cwd())
    session = in_db_sync(session_store.create, project, str(Path.cwd()))
    for number in range(10):
        row = in_db_sync(inbox.admit, session, [{"type": "text", "text": f"prompt {number}"}])
        said("admittedprompt", row.id)
    asked = in_db_sync(
        permissions.ask, session, message_id="", call_id="", agent="build", permission="bash",
        patterns=["ls"], always=["ls"], metadata={}, arguments_hash="",
    )  # fmt: skip
    in_db_sync(permissions.reply, asked.id, "always")
    said("permissionrequest", asked.id)
    option = QuestionOption(label="Yes", description="")
    question = QuestionInfo(question="Go on?", header="Go", options=[option])
    open_question = in_db_sync(questions.ask, session, [question], message_id="", call_id="", tool="question")
    in_db_sync(questions.reply, open_question.id, [["Yes"]])
    said("questionrequest", open_question.id)
    in_db_sync(session_store.set_status, session.id, Status(type="busy"))
    in_db_sync(session_store.set_status, session.id, Status(type="idle"))
    said("session", session.id)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
