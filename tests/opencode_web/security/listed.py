"""Every page of the application, by what it does: changes, shows what a change would do, or reads."""

from __future__ import annotations

CHANGES = (
    "/projects/open", "{base}/prompt", "{base}/inbox/msg_x/withdraw", "{base}/abort", "{base}/archive",
    "{base}/delete", "{base}/restore", "{base}/redo", "/permissions/per_x/reply", "/pickers/choose",
    "{base}/inbox/msg_x/edit", "{base}/inbox/msg_x/move", "{base}/inbox/msg_x/switch", "{base}/compact",
    "{base}/plan/approve", "{base}/plan/keep", "/questions/que_x/reply",
    "/questions/que_x/reject", "/permissions/per_x/edit", "/permissions/per_x/preview",
    "/p/{project}/rules/{rule}/revoke", "/p/{project}/rules/{rule}/restore", "/pickers/command",
    "/pickers/trust/grant", "/pickers/trust/revoke", "{base}/review/redo", "{base}/review/resolve",
    "{base}/review/mark", "{base}/comments", "{base}/comments/send", "{base}/comments/{comment}/remove",
    "{waits}/staging/keep", "{waits}/staging/drop", "{waits}/staging/resolve", "{waits}/staging/mode",
    "{waits}/staging/back/{operation}", "/settings/store/clean",
    "{base}/share/begin", "{base}/share/end", "/import/begin", "/import/cancel", "/import/again",
    "/accounts/key", "/accounts/begin", "/accounts/cancel", "/accounts/forget",
    "/servers/mcp/switch", "/servers/mcp/restart", "/servers/mcp/try", "/servers/mcp/remove",
    "/servers/mcp/sign-in", "/servers/mcp/cancel", "/servers/mcp/sign-out", "/servers/mcp/test",
    "/servers/mcp/save", "/servers/languages/switch", "/servers/languages/retry",
    "/servers/languages/install", "/pickers/problems/check", "/settings/damage/dismiss",
    "{base}/inbox/msg_x/again", "{base}/resume", "/settings/ignored/{project}",
)  # fmt: skip
BOTH = (
    "/p/{project}/s/", "{base}/rename", "{base}/undo/{message}", "{base}/fork",
    "{base}/fork?before={message}", "{base}/review/undo?scope=session", "{base}/comments/{comment}",
    "/p/{project}/log/calls/{session}/{call}/invert", "/p/{project}/log/operations/{operation}/invert",
    "/worktrees/{worktree}/remove",
)  # fmt: skip
"""GET shows what POST would do."""
READS = (
    "/", "/?choose", "/p/{project}/", "/p/{project}/sessions?q=pwned", "/p/{project}/sessions?archived=1",
    "/p/{project}/complete/commands", "/p/{project}/complete/files?q=pwned", "{base}",
    "{base}/messages?before=msg_z", "{base}/parts/{part}/output", "{base}/parts/{part}/files/0",
    "{base}/complete/files?q=pwned",
    "{base}/complete/commands", "{base}/review", "{base}/review?view=split&scope=turn",
    "{base}/review?scope=call&message={answer}&part={call}", "{base}/review?scope=project",
    "{base}/review?scope=git", "{waits}/review?scope=staged", "{base}/review/files?path={file}",
    "{base}/review/file?path={file}", "{base}/review/file?path=none", "/global/health",
    "{base}/review/image/none", "{base}/comments/form?path={file}&start=1&end=2",
    "{waits}", "{waits}/staging/files", "{base}/fork/files?before={message}",
    "/p/{worktree}/s/{fork}", "/p/{project}/log", "/p/{project}/log?session={session}&kind=undo&file=pwned",
    "{base}/timeline", "{base}/timeline/moments?kind=edit", "{base}/timeline/at?change={change}",
    "{base}/timeline/point?change={change}", "{base}/timeline/review/file?change={change}&path={file}",
    "{base}/timeline/review/image/none?change={change}&path={file}", "{waits}/timeline",
    "/settings", "/settings?project={project}", "/settings/store/{project}",
    "/pickers/models?session={session}", "/pickers/agents?session={session}",
    "/pickers/status?session={session}", "/pickers/mentions?session={session}", "/nothing/<pwned>",
    "/pickers/symbols?session={session}&q=pwned",
    "{base}/inbox/msg_x", "{base}/export", "{base}/export.md", "{base}/export.json",
    "{base}/export.html", "{base}/export.html?redact=1", "{base}/share", "/s/que_x", "/import",
    "/mcp/oauth/callback?state=none&error_description=pwned",
    "/import/found", "/import/found?path=/nothing/<pwned>", "/import/progress",
    "/accounts", "/accounts?project={project}", "/accounts/waiting?provider=openai",
    "/p/{project}/rules", "/p/{project}/rules/decisions?show=deny", "/p/{project}/rules/decisions",
    "/p/{project}/rules/export.json",
    "/permissions/per_x/card", "/permissions/per_x/rest", "/permissions/per_x/file?file=0",
    "/permissions/per_x/matches?pattern=*",
    "/questions/que_x/card", "/pickers/rules?project={project}", "/pickers/why?request=per_x",
    "/pickers/commands?session={session}", "/pickers/trust?project={project}",
    "/pickers/problems?project={project}&session={session}", "/pickers/resources?session={session}&q=pwned",
    "/pickers/arguments?session={session}&name=pwned&written=pwned",
    "/pickers/problems/count?project={project}&session={session}",
    "/pickers/problems/lines?project={project}&path={file}&line=1",
    "/servers?project={project}", "/servers/badge?project={project}", "/servers/mcp/list?project={project}",
    "/servers/mcp/detail?project={project}&name=none", "/servers/mcp/form?project={project}",
    "/servers/mcp/log?project={project}&name=none", "/servers/mcp/removal?project={project}&name=none",
    "/servers/mcp/resource?project={project}&name=none&uri=pwned",
    "/servers/mcp/schema?project={project}&name=none&tool=pwned",
    "/servers/mcp/words?command=<pwned>%20'", "/servers/languages?project={project}",
    "/servers/languages/log?project={project}&row=none&root=pwned",
    "/servers/languages/more?project={project}",
)  # fmt: skip
API = (
    "/session", "/session/status", "/session/{session}", "/session/{session}/message",
    "/session/{session}/message/{message}", "/session/{session}/todo", "/session/{session}/diff",
    "/permission", "/find?pattern=pwned", "/find/file?query=py", "/file?path=.",
    "/file/content?path=data.txt", "/config", "/agent",
)  # fmt: skip
NAMES = (
    "project", "session", "message", "part", "file", "rule", "comment", "operation", "call", "answer",
    "change", "worktree", "fork",
)  # fmt: skip
"""What the paths above are filled with, beside `base` and `waits`: the pages of the two sessions."""
