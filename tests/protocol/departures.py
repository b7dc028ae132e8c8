"""What we do otherwise than OpenCode's document says, and what we leave out; `docs/wire.md` is made of it."""

from __future__ import annotations

LEFT_OUT = {
    "global.upgrade": "the program is upgraded by whoever installed it",
    "sync.start": "OpenCode's synchronisation between its own servers",
    "sync.replay": "OpenCode's synchronisation between its own servers",
    "sync.steal": "OpenCode's synchronisation between its own servers",
    "sync.history.list": "OpenCode's synchronisation between its own servers",
}
"""By operation id."""

DIFFERS = {
    "auth.set": "an empty key, or one with a line break, is 400; OpenCode keeps it",
    "config.get": "secrets are shown as …; a broken file does not hide the rest of the configuration",
    "config.update": "writes the nearest `opencode.json(c)` of the folder, comments stay, and answers the"
    " configuration in force; OpenCode writes `config.json`, which it does not read, and answers the patch",
    "global.config.update": "unknown top keys are written; OpenCode drops them",
    "mcp.connect": "false when the server is not connected afterwards; OpenCode says true",
    "provider.auth": "sign-ins at OpenAI and GitHub Copilot; keys for all others",
    "provider.list": "keys are not shown",
    "pty.connect": "an unknown terminal closes the socket with 4404 (OpenCode: 404 at the handshake)",
    "pty.create": "a missing folder or program is 400",
    "tool.list": "an unknown model is 400",
    "v2.integration.list": "known, configured and kept providers; OpenCode lists all of models.dev",
    "v2.pty.connect": "as `pty.connect`; an exited terminal is replayed before 4404",
    "v2.session.prompt": "the prompt is run, as seed 002 says; OpenCode admits it and does not run it",
    "v2.session.wait": "answers when the session is idle; OpenCode answers 503",
}
"""By operation id: a sentence each."""

FACTS = (
    'A bad body or query is `400 {"name":"BadRequest","data":{"message","kind"}}`, which is none of'
    " the declared errors. Broken JSON is 500 there and 400 here.",
    "A malformed id is 500 there; 404 or 400 here. A path out of the project is 500 there; 403 here.",
    "null stands for optional fields that are not set (the cursor of `/api/session/{id}/message`).",
    "`POST /session/{id}/message` with `noReply` answers the user's message.",
    "`server.heartbeat` and `server.connected` are no declared events.",
    "`auth.remove` of an unknown provider is true.",
    "`pty.connectToken` wants the header `x-opencode-ticket: 1`, which the document does not name; the token"
    " lasts 60 s and opens one socket, once.",
    "A terminal that has exited is gone in the first protocol, and stays until it is removed in the second.",
    "Output of a terminal comes in text frames; after the replay one binary frame, NUL and"
    ' `{"cursor":N}`, counts UTF-16 units.',
    "`v2.integration.get` of an unknown id is 200 with `data: null`.",
    "An unknown agent or model of a prompt is 500 there, with the reason in `session.error`; here the answer"
    " is an assistant message with the error.",
)
"""Where OpenCode's own answer contradicts its document."""
