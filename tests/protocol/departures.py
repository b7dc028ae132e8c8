"""What we do otherwise than OpenCode's document says, and what we leave out; `docs/wire.md` is made of it."""

from __future__ import annotations

LEFT_OUT = {
    "global.upgrade": "the program is upgraded by whoever installed it",
    "experimental.projectCopy.generateName": "`/experimental/worktree` makes second working trees",
    "v2.projectCopy.create": "`/experimental/worktree` makes second working trees",
    "v2.projectCopy.remove": "only worktrees that were made here are ever removed",
    "v2.projectCopy.refresh": "`/experimental/worktree` makes second working trees",
}
"""By operation id."""

DIFFERS = {
    "auth.set": "an empty key, or one with a line break, is 400; OpenCode keeps it",
    "command.list": "prompts of MCP servers have an empty `template`; OpenCode sends `{}`",
    "config.get": "secrets are shown as …; a broken file does not hide the rest of the configuration",
    "config.update": "writes the nearest `opencode.json(c)` of the folder, comments stay, and answers the"
    " configuration in force; OpenCode writes `config.json`, which it does not read, and answers the patch",
    "event.subscribe": "`id:` lines; with `Last-Event-ID` or `?since=` also what was logged after it (ours)",
    "experimental.session.background": "always false: subagents in the background are not detached",
    "experimental.console.switchOrg": "always 400: there is no console",
    "experimental.controlPlane.moveSession": "within the project of the session, whose undo belongs to it;"
    " `moveChanges` is ignored",
    "file.list": "`.git` and links that lead out of the project are left out",
    "file.read": "the whole text (OpenCode trims it); 404, 403 or 413 where OpenCode answers 500",
    "file.status": "real changes; OpenCode always answers none",
    "find.symbols": "the ten best of the language servers that run; OpenCode always answers none",
    "global.config.update": "unknown top keys are written; OpenCode drops them",
    "global.dispose": "tells clients; MCP and language servers begin anew",
    "global.event": "as `event.subscribe`",
    "instance.dispose": "tells clients; MCP and language servers of the folder begin anew",
    "lsp.status": "servers that failed are listed as `error`; OpenCode leaves them out",
    "mcp.auth.authenticate": "opens no browser: `mcp.browser.open.failed` always says where to sign in",
    "mcp.auth.callback": "400 when no sign-in waits; OpenCode answers 500",
    "mcp.auth.start": "the browser comes back to this server, not to port 19876 (there only with a configured"
    " `clientId`); a server that cannot be signed in to is 400, OpenCode answers 500",
    "mcp.connect": "false when the server is not connected afterwards; OpenCode says true",
    "mcp.status": "after 5 s servers that are still starting are told as `disabled`; OpenCode waits for them."
    " `needs_client_registration` where OpenCode says `failed`",
    "part.delete": "an unknown message or part is 404; OpenCode says true",
    "part.update": "an unknown message or part is 404; OpenCode makes an orphan",
    "project.current": "a worktree is a project of its own, and among the `sandboxes` of its original",
    "project.list": "there is no project called global",
    "provider.auth": "sign-ins at OpenAI and GitHub Copilot; keys for all others",
    "provider.list": "keys are not shown",
    "pty.connect": "an unknown terminal closes the socket with 4404 (OpenCode: 404 at the handshake)",
    "pty.create": "a missing folder or program is 400",
    "question.list": "also what MCP servers ask",
    "question.reject": "as `question.list`",
    "question.reply": "as `question.list`",
    "session.abort": "an unknown session is 404; OpenCode says true",
    "session.command": "an unknown command is 404; OpenCode answers 500",
    "session.create": "an unknown parent is 404; `workspaceID` is dropped",
    "session.deleteMessage": "an unknown message is 404; OpenCode says true",
    "session.diff": "an unknown session is 404",
    "session.list": "a negative limit is 400; OpenCode ignores it",
    "session.prompt": "an empty prompt is 400, and so is a `format` with a schema that is none; answers are"
    " held against it and go back to the model at most `retryCount` times; OpenCode takes any."
    " A `file:` part gets one synthetic text before it, two in OpenCode; one that cannot be read stays,"
    " OpenCode drops it",
    "session.prompt_async": "as `session.prompt`",
    "session.revert": "an unknown message is 404; OpenCode answers the session as it was. With the header "
    "`X-Opencode-Web: 1` the answer has `outcome`: files `changed`, `conflicts`, `leftAlone`, `notCovered`",
    "session.shell": "in the ledger and undone like a tool call; 10 minutes at most",
    "session.summarize": "nothing to sum up is 400",
    "session.update": "`archived` null or 0 takes it out of the archive",
    "sync.history.list": "of what happened to one thing several times the first and the last, as it is now;"
    " between them `session.updated`",
    "sync.replay": "a session that is here stays as it is; what is no history is 400, OpenCode answers 500",
    "sync.steal": "always 400: there are no workspaces",
    "tool.ids": "tools of MCP servers, `lsp` and `browser` are there, where they are on; OpenCode has none",
    "tool.list": "as `tool.ids`; an unknown model is 400",
    "tui.control.next": "the orders of the folder from the first question on, 64 at most",
    "tui.openThemes": "`theme.switch`; OpenCode sends `session.list`",
    "v2.fs.find": "at most 200",
    "v2.fs.read": "always `application/octet-stream`, at most 10 MB",
    "v2.integration.list": "known, configured and kept providers; OpenCode lists all of models.dev",
    "v2.pty.connect": "as `pty.connect`; an exited terminal is replayed before 4404",
    "v2.reference.list": "none: other repositories are not fetched for a project",
    "v2.session.compact": "carried out; OpenCode answers 503. Nothing to compact is 400",
    "v2.session.events": "`seq` rises with gaps; a reader that is too slow is told `server.resync`",
    "v2.session.history": "`seq` rises with gaps",
    "v2.session.prompt": "the prompt is run; OpenCode admits it and does not run it",
    "v2.session.revert.commit": "`messageID` itself is undone, as in the first protocol",
    "v2.session.revert.stage": "as `v2.session.revert.commit`; 400 while a turn runs",
    "v2.session.wait": "answers when the session is idle; OpenCode answers 503",
    "vcs.apply": "files of the working tree alone; the ledger has no session to note it for",
    "vcs.diff": "files over 4 MB have no lines",
    "worktree.create": "from the last commit; no filter is run, so LFS files stay pointers",
    "worktree.list": "those that were made here",
    "worktree.remove": "refuses what would lose changed or new files or commits; OpenCode deletes them",
    "worktree.reset": "refuses what would lose commits; ignored files stay",
}
"""By operation id: a sentence each."""

NEVER = {
    "installation.update-available": "the program is upgraded by whoever installed it",
    "installation.updated": "as `installation.update-available`",
    "models-dev.refreshed": "the list of models comes with the program",
    "project.directories.updated": "told as `project.updated`, which has the folders",
    "session.next.tool.input.delta": "the arguments of a call are told when they are complete",
    "vcs.branch.updated": "the branch is read when it is asked for",
    "workspace.failed": "there are no workspaces",
    "workspace.ready": "there are no workspaces",
    "workspace.status": "there are no workspaces",
}
"""Declared events that are not sent, and why."""

ELSEWHERE = {
    "lsp.updated": "test_languages",
    "mcp.browser.open.failed": "test_mcp",
    "mcp.tools.changed": "test_mcp",
    "worktree.failed": "a start command for which no terminal can be opened",
}
"""Declared events that a walk cannot cause by itself: the test that hears them, or what they want."""

FACTS = (
    'A bad body or query is `400 {"name":"BadRequest","data":{"message","kind"}}`, which is none of'
    " the declared errors. Broken JSON is 500 there and 400 here.",
    "A malformed id is 500 there; 404 or 400 here. A path out of the project is 500 there; 403 here.",
    "A folder that does not exist is 404 (400 under `/api`); OpenCode takes it for `/` or answers 500.",
    "A system folder, a whole home or a folder of keys in `directory` is 403 until a person has opened it in"
    " the page or started the server with it; `GET /file` lists homes, and `GET /find/file?type=directory`"
    " searches yours. OpenCode opens them.",
    "`vcs.get` has no `branch` where OpenCode has null.",
    "`v2.session.events` has bare `data:` frames, without the `id` and `event` lines of the document.",
    "null stands for optional fields that are not set (the cursor of `/api/session/{id}/message`).",
    "`GET /session/{id}/message` of a session with a json_schema prompt is 400 there; here it is listed.",
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
