"""The pages' URLs and their names: `p` is a project, `s` a session."""

from __future__ import annotations

from django.urls import path

from sessions.web import comments, pins, plan, sharing, staging, timeline, upkeep
from sessions.web.lazy import LazyViews
from sessions.web.overview import pages as overview
from sessions.web.pages import conversation, home

# What a first page does not need (docs/decisions/0072).
acts = LazyViews("sessions.web.files.acts")
approvals = LazyViews("sessions.web.approvals.pages")
changes = LazyViews("sessions.web.pages.changes")
complete = LazyViews("sessions.web.pages.complete")
diagrams = LazyViews("sessions.web.diagrams")
export = LazyViews("sessions.web.pages.export")
file_comments = LazyViews("sessions.web.files.comments")
find = LazyViews("sessions.web.files.find")
fork = LazyViews("sessions.web.pages.fork")
inbox = LazyViews("sessions.web.pages.inbox")
keys = LazyViews("sessions.web.pages.keys")
knowledge = LazyViews("sessions.web.knowledge")
labels = LazyViews("sessions.web.labels")
looks = LazyViews("sessions.web.looks.pages")
move = LazyViews("sessions.web.pages.move")
operations = LazyViews("sessions.web.operations")
panel = LazyViews("sessions.web.review.pages.panel")
programs = LazyViews("sessions.web.programs")
prompts = LazyViews("sessions.web.pages.prompts")
questions = LazyViews("sessions.web.pages.questions")
rules = LazyViews("sessions.web.approvals.rules")
search = LazyViews("sessions.web.pages.search")
session_folders = LazyViews("sessions.web.session_folders")
several = LazyViews("sessions.web.pages.several")
snippets = LazyViews("sessions.web.pages.snippets")
transfer = LazyViews("sessions.web.transfer")
tree = LazyViews("sessions.web.files.tree")
undo = LazyViews("sessions.web.review.pages.undo")
verdicts = LazyViews("sessions.web.review.pages.verdicts")
view = LazyViews("sessions.web.files.view")
worktrees = LazyViews("sessions.web.worktrees")

_PROJECT = "p/<str:project_id>"
_RULES = f"{_PROJECT}/rules"
_LOG = f"{_PROJECT}/log"
_FILES = f"{_PROJECT}/files"
_KNOWLEDGE = f"{_PROJECT}/knowledge"
_SESSION = f"{_PROJECT}/s/<str:session_id>"
_INBOX = f"{_SESSION}/inbox/<str:prompt_id>"
_REVIEW = f"{_SESSION}/review"
_TIMELINE = f"{_SESSION}/timeline"
_STAGING = f"{_SESSION}/staging"
_COMMENTS = f"{_SESSION}/comments"
_PERMISSION = "permissions/<str:request_id>"
_QUESTION = "questions/<str:request_id>"

_projects = [
    path("", home.home, name="home"),
    path("overview", overview.overview, name="overview"),
    path("overview/views", overview.views, name="views"),
    path("overview/views/save", overview.save_view, name="save-view"),
    path("chats/new", overview.new_chat, name="new-chat"),
    path("search", search.search, name="search"),
    path("search/progress", search.progress, name="search-progress"),
    path("search/save", search.save, name="save-search"),
    path("search/forget", search.forget, name="forget-search"),
    path("projects/open", home.open_project, name="open-project"),
    path(f"{_PROJECT}/", conversation.project, name="project"),
    path(f"{_PROJECT}/sessions", conversation.sessions, name="sessions"),
    path(f"{_PROJECT}/sessions/archive", several.archive, name="archive-sessions"),
    path(f"{_PROJECT}/sessions/pin", several.pin, name="pin-sessions"),
    path(f"{_PROJECT}/sessions/stop", several.stop, name="stop-sessions"),
    path(f"{_PROJECT}/sessions/delete", several.delete, name="delete-sessions"),
    path(f"{_PROJECT}/sessions/restore", several.restore, name="restore-sessions"),
    path(f"{_PROJECT}/sessions/labels", labels.choose, name="label-sessions"),
    path(f"{_PROJECT}/sessions/folder", session_folders.choose, name="file-sessions"),
    path(f"{_PROJECT}/sessions/place", session_folders.place, name="place-sessions"),
    path(f"{_PROJECT}/sessions/folders/<str:folder_id>", session_folders.change, name="session-folder"),
    path(f"{_PROJECT}/sessions/folders/<str:folder_id>/fold", session_folders.fold, name="fold-folder"),
    path(
        f"{_PROJECT}/sessions/folders/<str:folder_id>/remove",
        session_folders.remove,
        name="remove-session-folder",
    ),
    path(f"{_PROJECT}/sessions/export", several.export, name="export-sessions"),
    path(f"{_PROJECT}/sessions/export.zip", several.exported, name="export-packed"),
    path(f"{_PROJECT}/checkout", home.checkout, name="checkout"),
    path(f"{_PROJECT}/prompts/earlier", inbox.earlier, name="earlier-prompt"),
    path(f"{_PROJECT}/complete/commands", complete.commands, name="complete-commands"),
    path(f"{_PROJECT}/complete/files", complete.files, name="complete-files"),
    path(_RULES, rules.rules, name="rules"),
    path(f"{_RULES}/decisions", rules.decisions, name="decisions"),
    path(f"{_RULES}/decisions/<int:decision_id>/pass", rules.let_through, name="let-through"),
    path(f"{_RULES}/export.json", rules.export, name="export-rules"),
    path(f"{_RULES}/<int:rule_id>/revoke", rules.revoke, name="revoke-rule"),
    path(f"{_RULES}/<int:rule_id>/restore", rules.restore, name="restore-rule"),
    path(_LOG, operations.log, name="log"),
    path(
        f"{_LOG}/calls/<str:session_id>/<str:part_id>/invert",
        operations.invert_call,
        name="invert-call",
    ),
    path(
        f"{_LOG}/operations/<str:operation_id>/invert",
        operations.invert_operation,
        name="invert-operation",
    ),
    path("worktrees/<str:project_id>/remove", worktrees.removal, name="remove-worktree"),
]

_conversation = [
    path(f"{_PROJECT}/s/", changes.collection, name="new-session"),
    path(_SESSION, conversation.session, name="session"),
    path(f"{_SESSION}/messages", conversation.older, name="older-messages"),
    path(f"{_SESSION}/find", search.within, name="find-within"),
    path(f"{_SESSION}/messages/<str:message_id>/prompt", inbox.said, name="prompt-text"),
    path(f"{_SESSION}/messages/<str:message_id>/text", conversation.answer_text, name="answer-text"),
    path(f"{_SESSION}/parts/<str:part_id>/output", conversation.output, name="part-output"),
    path(f"{_SESSION}/parts/<str:part_id>/files/<int:number>", conversation.attachment, name="part-file"),
    path(f"{_SESSION}/complete/files", complete.files, name="complete-files"),
    path(f"{_SESSION}/complete/commands", complete.commands, name="complete-commands"),
    path(f"{_SESSION}/prompt", changes.prompt, name="prompt"),
    path(_INBOX, inbox.whole, name="waiting-prompt"),
    path(f"{_INBOX}/edit", inbox.edit, name="edit-prompt"),
    path(f"{_INBOX}/move", inbox.move, name="move-prompt"),
    path(f"{_INBOX}/switch", inbox.switch, name="switch-prompt"),
    path(f"{_INBOX}/withdraw", inbox.withdraw, name="withdraw-prompt"),
    path(f"{_INBOX}/again", inbox.again, name="prompt-again"),
    path(f"{_SESSION}/export", export.choice, name="export"),
    path(f"{_SESSION}/export.md", export.markdown, name="export-markdown"),
    path(f"{_SESSION}/export.json", export.data, name="export-data"),
    path(f"{_SESSION}/export.html", export.transcript, name="export-transcript"),
    path(f"{_SESSION}/fork", fork.fork, name="fork"),
    path(f"{_SESSION}/fork/files", fork.files, name="fork-files"),
    path(f"{_SESSION}/move", move.move, name="move-session"),
    path(f"{_SESSION}/abort", changes.abort, name="abort"),
    path(f"{_SESSION}/resume", changes.resume, name="resume"),
    path(f"{_SESSION}/hasten", changes.hasten, name="hasten"),
    path(f"{_SESSION}/todos/dismiss", changes.dismiss_todos, name="dismiss-todos"),
    path(f"{_SESSION}/compact", prompts.compact, name="compact"),
    path(f"{_SESSION}/pins", pins.add, name="add-pin"),
    path(f"{_SESSION}/pins/note", pins.note, name="pin-note"),
    path(f"{_SESSION}/pins/<str:pin_id>/remove", pins.remove, name="remove-pin"),
    path(f"{_SESSION}/menu", changes.menu, name="session-menu"),
    path(f"{_SESSION}/rename", changes.rename, name="rename-session"),
    path(f"{_SESSION}/read", changes.read, name="read-session"),
    path(f"{_SESSION}/writes", changes.writes, name="writes"),
    path(f"{_SESSION}/pin", changes.pin, name="pin-session"),
    path(f"{_SESSION}/archive", changes.archive, name="archive-session"),
    path(f"{_SESSION}/delete", changes.delete, name="delete-session"),
    path(f"{_SESSION}/restore", changes.restore, name="restore-session"),
    path(f"{_SESSION}/plan/approve", plan.approve, name="approve-plan"),
    path(f"{_SESSION}/plan/edit", plan.edit, name="edit-plan"),
    path(f"{_SESSION}/plan/comment", plan.comment, name="comment-plan"),
    path(f"{_SESSION}/plan/changes", plan.changes, name="plan-changes"),
    path(f"{_SESSION}/share", sharing.dialog, name="share"),
    path(f"{_SESSION}/share/begin", sharing.share, name="begin-sharing"),
    path(f"{_SESSION}/share/end", sharing.unshare, name="end-sharing"),
    path("s/<str:token>", sharing.shared, name="shared"),
]

_requests = [
    path(f"{_PERMISSION}/reply", approvals.reply, name="reply-permission"),
    path(f"{_PERMISSION}/card", approvals.whole, name="permission-card"),
    path(f"{_PERMISSION}/file", approvals.file, name="permission-file"),
    path(f"{_PERMISSION}/rest", approvals.rest, name="permission-rest"),
    path(f"{_PERMISSION}/edit", approvals.edit, name="edit-permission"),
    path(f"{_PERMISSION}/preview", approvals.preview, name="preview-permission"),
    path(f"{_PERMISSION}/matches", approvals.matches, name="permission-matches"),
    path(f"{_QUESTION}/reply", questions.reply, name="reply-question"),
    path(f"{_QUESTION}/reject", questions.reject, name="reject-question"),
    path(f"{_QUESTION}/card", questions.card, name="question-card"),
]

_changes = [
    path(_REVIEW, panel.panel, name="review"),
    path(f"{_REVIEW}/files", panel.files, name="review-files"),
    path(f"{_REVIEW}/file", panel.file, name="review-file"),
    path(f"{_REVIEW}/lines", panel.lines, name="review-lines"),
    path(f"{_REVIEW}/image/<str:oid>", panel.image, name="review-image"),
    path(f"{_REVIEW}/undo", verdicts.undo, name="review-undo"),
    path(f"{_REVIEW}/redo", verdicts.redo, name="review-redo"),
    path(f"{_REVIEW}/resolve", verdicts.resolve, name="review-resolve"),
    path(f"{_REVIEW}/keep", verdicts.keep, name="review-keep"),
    path(f"{_REVIEW}/view", verdicts.view, name="review-view"),
    path(f"{_SESSION}/undo/<str:message_id>", undo.undo, name="undo"),
    path(f"{_SESSION}/redo", undo.redo, name="redo"),
    path(_TIMELINE, timeline.whole, name="timeline"),
    path(f"{_TIMELINE}/moments", timeline.moments, name="timeline-moments"),
    path(f"{_TIMELINE}/at", timeline.at, name="timeline-at"),
    path(f"{_TIMELINE}/point", timeline.opened, name="timeline-point"),
    path(f"{_TIMELINE}/review/file", timeline.file, name="timeline-file"),
    path(f"{_TIMELINE}/review/image/<str:oid>", timeline.image, name="timeline-image"),
    path(f"{_STAGING}/files", staging.files, name="staging-files"),
    path(f"{_STAGING}/keep", staging.keep_picked, name="staging-keep"),
    path(f"{_STAGING}/drop", staging.drop_picked, name="staging-drop"),
    path(f"{_STAGING}/resolve", staging.settle, name="staging-resolve"),
    path(f"{_STAGING}/back/<str:operation_id>", staging.back, name="staging-back"),
    path(f"{_STAGING}/mode", staging.mode, name="staging-mode"),
    path(_COMMENTS, comments.add, name="add-comment"),
    path(f"{_COMMENTS}/form", comments.form, name="comment-form"),
    path(f"{_COMMENTS}/send", comments.send, name="send-comments"),
    path(f"{_COMMENTS}/restore", comments.restore, name="restore-comment"),
    path(f"{_COMMENTS}/<str:comment_id>", comments.edit, name="edit-comment"),
    path(f"{_COMMENTS}/<str:comment_id>/remove", comments.remove, name="remove-comment"),
]

_files = [
    path(f"{_FILES}/tree", tree.tree, name="files-tree"),
    path(f"{_FILES}/marks", tree.marks, name="files-marks"),
    path(f"{_FILES}/view", view.view, name="files-view"),
    path(f"{_FILES}/known", view.known, name="files-known"),
    path(f"{_SESSION}/files/comments", file_comments.comments, name="file-comments"),
    path(f"{_FILES}/raw", view.raw, name="files-raw"),
    path(f"{_FILES}/preview", view.preview, name="files-preview"),
    path(f"{_FILES}/find", find.find, name="files-find"),
    path(f"{_FILES}/replace", find.replace, name="files-replace"),
    path(f"{_FILES}/save", acts.save, name="files-save"),
    path(f"{_FILES}/merge", acts.merge, name="files-merge"),
    path(f"{_FILES}/make", acts.make, name="files-make"),
    path(f"{_FILES}/move", acts.move, name="files-move"),
    path(f"{_FILES}/copy", acts.copy, name="files-copy"),
    path(f"{_FILES}/remove", acts.remove, name="files-remove"),
    path(f"{_FILES}/upload", acts.upload, name="files-upload"),
]

_knowledge = [
    path(_KNOWLEDGE, knowledge.show, name="knowledge"),
    path(f"{_KNOWLEDGE}/note", knowledge.write, name="write-note"),
    path(f"{_KNOWLEDGE}/tick", knowledge.tick, name="tick-note"),
    path(f"{_KNOWLEDGE}/remove", knowledge.remove, name="remove-note"),
    path(f"{_KNOWLEDGE}/restore", knowledge.restore, name="restore-note"),
    path(f"{_KNOWLEDGE}/pin", knowledge.pin, name="pin-project-note"),
    path(f"{_KNOWLEDGE}/action", knowledge.save_action, name="save-action"),
    path(f"{_KNOWLEDGE}/action/remove", knowledge.remove_action, name="remove-action"),
    path(f"{_KNOWLEDGE}/action/restore", knowledge.restore_action, name="restore-action"),
    path(f"{_KNOWLEDGE}/run", knowledge.run, name="run-action"),
    path(f"{_KNOWLEDGE}/start", knowledge.start, name="start-command"),
]

_installation = [
    path("settings", upkeep.settings_page, name="settings"),
    path("help", keys.help_dialog, name="help"),
    path("diagrams", diagrams.frame, name="diagrams"),
    path("settings/looks", looks.show, name="looks"),
    path("settings/looks/theme", looks.theme, name="theme"),
    path("settings/keys", keys.show, name="keys"),
    path("settings/keys/reset", keys.reset, name="reset-all-keys"),
    path("settings/keys/of/<str:name>", keys.change, name="change-keys"),
    path("open-in", programs.open_in, name="open-in"),
    path("settings/programs", programs.own, name="programs"),
    path("settings/programs/remove", programs.remove, name="remove-program"),
    path("settings/snippets", snippets.show, name="snippets"),
    path("settings/snippets/save", snippets.save, name="save-snippet"),
    path("settings/snippets/remove", snippets.remove, name="remove-snippet"),
    path("settings/snippets/restore", snippets.restore, name="restore-snippet"),
    path("snippets/dialog", snippets.dialog, name="snippet-dialog"),
    path("snippets/options", snippets.options, name="snippet-options"),
    path("settings/damage/dismiss", upkeep.dismiss_damage, name="dismiss-damage"),
    path("settings/store/clean", upkeep.clean, name="clean-store"),
    path("settings/ignored/<str:project_id>", upkeep.keep_ignored, name="keep-ignored"),
    path("settings/store/<str:project_id>", upkeep.project, name="store-of-project"),
    path("import", transfer.start, name="import"),
    path("import/found", transfer.found, name="import-found"),
    path("import/begin", transfer.begin, name="import-begin"),
    path("import/progress", transfer.progress, name="import-progress"),
    path("import/cancel", transfer.cancel, name="import-cancel"),
    path("import/again", transfer.again, name="import-again"),
]

urlpatterns = [*_projects, *_conversation, *_requests, *_changes, *_files, *_knowledge, *_installation]
