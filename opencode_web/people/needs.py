"""What each page, operation and socket takes: the one table. What it does not name takes ADMINISTER.

Pages go by the names of their URLs, operations of the API by method and path (`*` for what varies), sockets
by their paths. A page has two needs: to be looked at (GET), and to act (POST).
"""

from __future__ import annotations

import re

from sessions.core.roles import Role

SHOWN = {
    Role.NOTHING: (
        "account_change_password account_logout account_reauthenticate account_set_password diagrams health"
        " help home keys looks machines overview views mfa_activate_totp mfa_deactivate_totp"
        " mfa_download_recovery_codes mfa_generate_recovery_codes mfa_index mfa_reauthenticate"
        " mfa_view_recovery_codes"
        " offline role-sheet"
        " theme you"
    ),
    Role.SEE: (
        "answer-text app app-frame arguments checkout choice commands comment-plan"
        " comparison comparison-diff comparison-log comparison-state comparisons"
        " complete-commands complete-files configured-rules count-problems decisions earlier-prompt"
        " edit-comment edit-plan estimate export export-data export-markdown export-packed export-rules"
        " export-sessions export-transcript file-comments file-sessions files-find files-marks files-preview"
        " files-raw files-tree files-view find-within folders forge forge-branch forge-item goal-log"
        " forge-list forge-merge forge-told fork fork-files git git-abort glance"
        " git-blame git-branches git-conflict git-diff git-list git-log git-merge git-shown git-stashes"
        " git-submodules git-tags git-worktrees invert-call invert-operation knowledge"
        " label-sessions log mcp-list mentions move-session new-session notifier-form notifiers"
        " older-messages open-in options"
        " palette part-file part-output permission-card permission-file permission-matches permission-rest"
        " plan-changes problem-lines problems project prompt-text question-card remove-worktree"
        " rename-session resources review review-file review-files review-image review-lines review-undo"
        " rules schedule schedule-list schedule-runs schedule-times schedules search search-progress"
        " servers-badge session session-folder session-menu sessions share"
        " snippet-options snippets staging-files status symbols timeline timeline-at"
        " theme-file theme-files timeline-file timeline-image timeline-moments timeline-point trust undo"
        " usage usage-file waiting-prompt why"
    ),
    Role.ASK: "comment-form own-keys pin-note preview sandbox-port-go snippet-dialog tour",
    Role.APPROVE: "clean-comparison combine-attempts compare goal new-schedule",
    Role.ADMINISTER: (
        "about account-waiting accounts configuration configured-entry configured-models devices forges"
        " import import-found import-progress"
        " language-log languages"
        " mcp-detail model-server"
        " mcp-form mcp-log mcp-removal mcp-resource mcp-schema mcp-words metrics more-languages people"
        " programs reached sandbox server-log servers settings store-of-project told"
    ),
}
"""Names of pages that are read, by what that takes."""

DONE = {
    Role.NOTHING: (
        "account_change_password account_logout account_reauthenticate account_set_password add-sign-in"
        " end-sign-in make-token mfa_activate_totp mfa_deactivate_totp mfa_generate_recovery_codes"
        " mfa_reauthenticate remove-token unlink-account"
    ),
    Role.SEE: (
        "add-push files-known remove-notifier review-view save-notifier switch-notifier test-notifier"
    ),
    Role.ASK: (
        "abort add-comment add-own-key add-pin archive-session archive-sessions check-problems choose"
        " command"
        " comment-plan compact delete-session delete-sessions dismiss-todos dismiss-unused edit-comment"
        " forge-start edit-plan edit-prompt file-comments file-sessions fold-folder forget-search fork"
        " goal-end goal-pause hasten stop-comparison"
        " label-sessions move-prompt new-session pin-project-note"
        " pin-session pin-sessions place-sessions prompt prompt-again"
        " read-run read-session reject-question remove-comment remove-note remove-own-key"
        " remove-pin remove-session-folder remove-snippet rename-session reply-question restore-session"
        " restore-comment restore-note restore-sessions restore-snippet resume review-keep save-search"
        " save-snippet save-view"
        " send-comments"
        " session-folder stop-sessions switch-prompt tick-note tour"
        " withdraw-prompt write-note writes"
    ),
    Role.APPROVE: (
        "add-folder app-ask approve-plan begin-sharing clean-comparison code combine-attempts compare"
        " edit-permission end-sharing files-copy"
        " forge-answer forge-draft forge-merge forge-open"
        " files-make files-merge files-move files-remove files-replace files-save files-upload git-branch"
        " git-commit git-discard git-draft git-merged git-ongoing git-remote git-resolve git-stage git-stash"
        " git-stop git-submodule git-tag git-unstage git-worktree goal goal-resume grant-trust"
        " measure-attempt open-preview take-attempt"
        " invert-call invert-operation let-through move-session new-schedule open-in preview-permission redo"
        " remove-action remove-folder remove-worktree reply-permission restore-action restore-rule"
        " review-redo review-resolve review-undo revoke-rule revoke-trust run-action sandbox-port-close"
        " sandbox-port-open save-action schedule schedule-act schedule-address shell staging-back"
        " staging-drop start-command"
        " staging-keep staging-mode staging-resolve undo"
    ),
    Role.ADMINISTER: (
        "account-begin account-cancel account-code account-forget account-key add-device add-project-key"
        " change-keys change-person"
        " change-setting draft-setting examine forge-forget forge-keep forge-test"
        " clean-store dismiss-damage import-again import-begin import-cancel install-language invite"
        " keep-ignored mcp-apps mcp-cancel mcp-remove mcp-restart mcp-save mcp-sign-in mcp-sign-out"
        " mcp-switch mcp-test mcp-try new-chat open-project person-link person-project"
        " person-sign-out person-token"
        " model-server-add model-server-look"
        " drain-machine join-team prefer-copy programs remove-program remove-project-key"
        " remove-device reset-all-keys restore-here"
        " retry-language switch-languages"
    ),
}
"""Names of pages that do something."""

OPERATIONS = {
    Role.NOTHING: """
        GET api/health
        GET api/location
        GET path
        POST log
    """,
    Role.SEE: """
        GET agent
        GET api/agent
        GET api/command
        GET api/event
        GET api/fs/find
        GET api/fs/list
        GET api/fs/read/*
        GET api/model
        GET api/permission/request
        GET api/permission/saved
        GET api/provider
        GET api/provider/*
        GET api/question/request
        GET api/reference
        GET api/session
        GET api/session/*
        GET api/session/*/context
        GET api/session/*/event
        GET api/session/*/history
        GET api/session/*/message
        GET api/session/*/message/*
        GET api/session/*/permission
        GET api/session/*/permission/*
        GET api/session/*/question
        GET api/session/active
        GET api/skill
        GET command
        GET comparison
        GET comparison/*
        GET comparison/*/diff
        GET comparison/*/left
        GET config
        GET config/providers
        GET doc
        GET event
        GET experimental/capabilities
        GET experimental/console
        GET experimental/console/orgs
        GET experimental/resource
        GET experimental/session
        GET experimental/tool
        GET experimental/tool/ids
        GET experimental/workspace
        GET experimental/workspace/adapter
        GET experimental/workspace/status
        GET experimental/worktree
        GET file
        GET file/content
        GET file/status
        GET find
        GET find/file
        GET find/message
        GET find/symbol
        GET formatter
        GET global/config
        GET global/event
        GET lsp
        GET mcp
        GET permission
        GET project
        GET project/*/directories
        GET project/current
        GET provider
        GET provider/auth
        GET question
        GET schedule
        GET schedule/*
        GET schedule/*/runs
        GET session
        GET session/*
        GET session/*/children
        GET session/*/diff
        GET session/*/message
        GET session/*/message/*
        GET session/*/goal
        GET session/*/move
        GET session/*/todo
        GET session/status
        GET skill
        GET vcs
        GET vcs/diff
        GET vcs/diff/raw
        GET vcs/status
        POST api/session/*/wait
        POST sync/history
    """,
    Role.ASK: """
        DELETE session/*
        DELETE session/*/message/*
        DELETE session/*/message/*/part/*
        PATCH session/*
        PATCH session/*/message/*/part/*
        POST api/session
        POST api/session/*/agent
        POST api/session/*/compact
        POST api/session/*/interrupt
        POST api/session/*/model
        POST api/session/*/prompt
        POST api/session/*/question/*/reject
        POST api/session/*/question/*/reply
        POST comparison/*/stop
        POST experimental/session/*/background
        POST question/*/reject
        POST question/*/reply
        POST session
        POST session/*/abort
        POST session/*/command
        POST session/*/fork
        POST session/*/init
        POST session/*/message
        POST session/*/prompt_async
        POST session/*/resume
        POST session/*/summarize
    """,
    Role.APPROVE: """
        DELETE api/permission/saved/*
        DELETE api/pty/*
        DELETE experimental/worktree
        DELETE pty/*
        DELETE schedule/*
        DELETE session/*/share
        GET api/pty
        GET api/pty/*
        GET pty
        GET pty/*
        GET pty/shells
        POST api/pty
        POST api/pty/*/connect-token
        POST api/session/*/permission
        POST api/session/*/permission/*/reply
        POST api/session/*/revert/clear
        POST api/session/*/revert/commit
        POST api/session/*/revert/stage
        POST comparison
        POST comparison/*/clean
        POST comparison/*/combine
        POST comparison/*/take
        POST experimental/worktree
        POST experimental/worktree/reset
        POST permission/*/reply
        POST pty
        POST pty/*/connect-token
        PATCH schedule/*
        PATCH session/*/goal
        POST schedule
        POST schedule/*/*
        POST schedule/*/address
        POST session/*/goal
        POST session/*/goal/*
        POST session/*/move
        POST session/*/permissions/*
        POST session/*/revert
        POST session/*/share
        POST session/*/shell
        POST session/*/unrevert
        POST vcs/apply
        PUT api/pty/*
        PUT pty/*
    """,
    Role.ADMINISTER: """
        DELETE api/credential/*
        DELETE api/integration/attempt/*
        DELETE auth/*
        DELETE experimental/workspace/*
        DELETE mcp/*/auth
        GET api/integration
        GET api/integration/*
        GET api/integration/attempt/*
        GET tui/control/next
        PATCH api/credential/*
        PATCH config
        PATCH global/config
        PATCH project/*
        POST api/integration/*/connect/key
        POST api/integration/*/connect/oauth
        POST api/integration/attempt/*/complete
        POST experimental/console/switch
        POST experimental/control-plane/move-session
        POST experimental/workspace
        POST experimental/workspace/sync-list
        POST experimental/workspace/warp
        POST global/dispose
        POST instance/dispose
        POST mcp
        POST mcp/*/auth
        POST mcp/*/auth/authenticate
        POST mcp/*/auth/callback
        POST mcp/*/connect
        POST mcp/*/disconnect
        POST project/git/init
        POST provider/*/oauth/authorize
        POST provider/*/oauth/callback
        POST sync/replay
        POST sync/start
        POST sync/steal
        POST tui/append-prompt
        POST tui/clear-prompt
        POST tui/control/response
        POST tui/execute-command
        POST tui/open-help
        POST tui/open-models
        POST tui/open-sessions
        POST tui/open-themes
        POST tui/publish
        POST tui/select-session
        POST tui/show-toast
        POST tui/submit-prompt
        PUT auth/*
    """,
}

EVERYWHERE = frozenset(
    {
        *("forget-search", "save-search", "search", "search-progress"),
        *(
            "GET api/event",
            "GET api/permission/request",
            "GET api/permission/saved",
            "GET api/question/request",
        ),
        *("GET api/session", "GET api/session/active", "GET experimental/session", "GET find/message"),
        *("GET global/event", "GET project", "GET session/status"),
    }
)
"""What is about all projects, whatever it names."""

PUBLIC = frozenset({"hook", "mcp-oauth-callback", "ready", "shared"})
"""Pages that the guard shows to whoever has their address."""

SOCKETS = {
    r"/ws/p/[^/]+/(files/)?": Role.SEE,
    r"/ws/inbox/": Role.NOTHING,
    r"/ws/overview/": Role.NOTHING,
    r"/(api/)?pty/[^/]+/connect": Role.APPROVE,
}
"""By path. What is sent through one of a page counts for nothing; through a terminal's it is typed. The inbox
has what is of projects that one sees."""

RAISING = ("preset", "permission", "folders")
"""What is given along with a session and says what is asked before it is done; by what this takes:"""
RAISED = Role.APPROVE
_HARMLESS: tuple[object, ...] = (None, "", "ask", [], ["ask"])

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_VARYING = re.compile(r"<[^>]+>")

_shown = {name: role for role, names in SHOWN.items() for name in names.split()}
_done = {name: role for role, names in DONE.items() for name in names.split()}
SHOWING, ACTING = frozenset(_shown), frozenset(_done)
"""Names of all pages that are read, and of those that do something."""
_operations = {
    line.strip(): role for role, lines in OPERATIONS.items() for line in lines.strip().splitlines()
}


def of_page(method: str, name: str) -> Role:
    """What a page takes, by the name of its URL."""
    return (_shown if method in _READING else _done).get(name, Role.ADMINISTER)


def of_all(name: str) -> Role:
    """What it takes to look at a page and to do what it is for."""
    found = [table[name] for table in (_shown, _done) if name in table]
    return max(found, key=lambda role: role.rank, default=Role.ADMINISTER)


def operation(method: str, route: str) -> str:
    """As the table has it; `route` as Django's URLs have it."""
    return f"{'GET' if method in _READING else method} {_VARYING.sub('*', route)}"


def of_operation(name: str) -> Role:
    """What an operation of the API takes."""
    return _operations.get(name, Role.ADMINISTER)


def of_socket(path: str) -> Role:
    return next((role for form, role in SOCKETS.items() if re.fullmatch(form, path)), Role.ADMINISTER)


def raises(given: dict[str, object]) -> bool:
    """Whether what is given lowers what is asked about."""
    return any(given.get(name) not in _HARMLESS for name in RAISING)
