"""The agents' pages and pickers, and the names of their URLs."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from sessions.web.lazy import LazyViews

accounts = LazyViews("agents.web.accounts")
acts = LazyViews("agents.web.mcp.acts")
apps = LazyViews("agents.web.mcp.apps")
choice_pages = LazyViews("agents.web.choice_pages")
code = LazyViews("agents.web.code")
commands = LazyViews("agents.web.commands")
comparison_acts = LazyViews("agents.web.comparisons.acts")
comparisons = LazyViews("agents.web.comparisons.pages")
configuration = LazyViews("agents.web.configuration.views")
editing = LazyViews("agents.web.mcp.editing")
estimate = LazyViews("agents.web.estimate")
folder_pages = LazyViews("agents.web.folder_pages")
forge_acts = LazyViews("agents.web.forge.acts")
forge_hosts = LazyViews("agents.web.forge.hosts")
forge_pages = LazyViews("agents.web.forge.pages")
git_acts = LazyViews("agents.web.git.acts")
git_pages = LazyViews("agents.web.git.pages")
git_views = LazyViews("agents.web.git.views")
glance = LazyViews("agents.web.glance")
goals = LazyViews("agents.web.goals")
languages = LazyViews("agents.web.lsp")
model_servers = LazyViews("agents.web.model_servers")
notifiers = LazyViews("agents.web.notifiers")
oauth = LazyViews("agents.servers.mcp.oauth.signing")
own_keys = LazyViews("agents.web.own_keys")
palette = LazyViews("agents.web.palette")
permission_pages = LazyViews("agents.web.permission_pages")
pickers = LazyViews("agents.web.pickers")
problem_pages = LazyViews("agents.web.problem_pages")
prompt_pages = LazyViews("agents.web.prompt_pages")
resources = LazyViews("agents.agent.offered.completion")
sandbox_pages = LazyViews("agents.web.sandbox_pages")
schedules = LazyViews("agents.web.schedules")
symbols = LazyViews("agents.servers.lsp.uses.completion")
theme_pages = LazyViews("agents.web.theme_pages")
tours = LazyViews("agents.web.tours")
trust = LazyViews("agents.web.trust")
usage_pages = LazyViews("agents.web.usage_pages")
views = LazyViews("agents.web.mcp.views")

_APP = "p/<str:project_id>/s/<str:session_id>/parts/<str:part_id>/app"

_COMPARISON = "p/<str:project_id>/compare/<str:comparison_id>"

_pickers = [
    path("pickers/choice", choice_pages.choice, name="choice"),
    path("pickers/options", choice_pages.options, name="options"),
    path("pickers/palette", palette.options, name="palette"),
    path("pickers/mentions", pickers.mentions, name="mentions"),
    path("pickers/resources", resources.options, name="resources"),
    path("pickers/arguments", resources.arguments, name="arguments"),
    path("pickers/symbols", symbols.options, name="symbols"),
    path("pickers/code", code.ask, name="code"),
    path("pickers/estimate", estimate.prompt, name="estimate"),
    path("pickers/status", pickers.status, name="status"),
    path("pickers/unused/dismiss", pickers.dismiss_unused, name="dismiss-unused"),
    path("pickers/choose", choice_pages.choose, name="choose"),
    path("pickers/folders", folder_pages.dialog, name="folders"),
    path("pickers/folders/add", folder_pages.add, name="add-folder"),
    path("pickers/folders/remove", folder_pages.remove, name="remove-folder"),
    path("pickers/trust", trust.dialog, name="trust"),
    path("pickers/trust/grant", trust.trust, name="grant-trust"),
    path("pickers/trust/revoke", trust.revoke, name="revoke-trust"),
    path("pickers/rules", permission_pages.configured, name="configured-rules"),
    path("pickers/why", permission_pages.why, name="why"),
    path("pickers/problems", problem_pages.listing, name="problems"),
    path("pickers/problems/count", problem_pages.count, name="count-problems"),
    path("pickers/problems/lines", problem_pages.lines, name="problem-lines"),
    path("pickers/problems/check", problem_pages.check, name="check-problems"),
    path("pickers/commands", commands.options, name="commands"),
    path("pickers/command", commands.send, name="command"),
    path("pickers/shell", commands.run, name="shell"),
]

_SCHEDULES = "p/<str:project_id>/schedules"
_schedules = [
    path("schedules", schedules.show, name="schedules"),
    path("schedules/list", schedules.listing, name="schedule-list"),
    path(f"{_SCHEDULES}/new", schedules.new, name="new-schedule"),
    path(f"{_SCHEDULES}/times", schedules.upcoming, name="schedule-times"),
    path(f"{_SCHEDULES}/<str:schedule_id>", schedules.schedule, name="schedule"),
    path(f"{_SCHEDULES}/<str:schedule_id>/runs", schedules.runs, name="schedule-runs"),
    path(f"{_SCHEDULES}/<str:schedule_id>/runs/<int:run>/read", schedules.read_run, name="read-run"),
    path(f"{_SCHEDULES}/<str:schedule_id>/address", schedules.address, name="schedule-address"),
    path(f"{_SCHEDULES}/<str:schedule_id>/do/<str:act>", schedules.act, name="schedule-act"),
    path("hook/<str:secret>", schedules.hook, name="hook"),
]

_GIT = "p/<str:project_id>/git"
_git = [
    path(_GIT, git_pages.show, name="git"),
    path(f"{_GIT}/list", git_pages.listing, name="git-list"),
    path(f"{_GIT}/diff", git_pages.diff, name="git-diff"),
    path(f"{_GIT}/conflict", git_pages.conflict, name="git-conflict"),
    path(f"{_GIT}/abort", git_views.abort, name="git-abort"),
    path(f"{_GIT}/stage", git_acts.stage, name="git-stage"),
    path(f"{_GIT}/unstage", git_acts.unstage, name="git-unstage"),
    path(f"{_GIT}/discard", git_acts.discard, name="git-discard"),
    path(f"{_GIT}/resolve", git_acts.resolve, name="git-resolve"),
    path(f"{_GIT}/ongoing", git_acts.go_on, name="git-ongoing"),
    path(f"{_GIT}/commit", git_acts.commit, name="git-commit"),
    path(f"{_GIT}/draft", git_acts.draft, name="git-draft"),
    path(f"{_GIT}/remote", git_acts.remote, name="git-remote"),
    path(f"{_GIT}/stop", git_acts.stop, name="git-stop"),
    path(f"{_GIT}/branch", git_acts.branch, name="git-branch"),
    path(f"{_GIT}/stash", git_acts.put_aside, name="git-stash"),
    path(f"{_GIT}/branches", git_views.branches, name="git-branches"),
    path(f"{_GIT}/blame", git_views.blame, name="git-blame"),
    path(f"{_GIT}/log", git_views.log, name="git-log"),
    path(f"{_GIT}/shown", git_views.commit, name="git-shown"),
    path(f"{_GIT}/worktrees", git_views.trees, name="git-worktrees"),
    path(f"{_GIT}/worktree", git_acts.worktree, name="git-worktree"),
    path(f"{_GIT}/merge", git_views.merge, name="git-merge"),
    path(f"{_GIT}/merged", git_acts.merge, name="git-merged"),
    path(f"{_GIT}/tags", git_views.tags, name="git-tags"),
    path(f"{_GIT}/tag", git_acts.tag, name="git-tag"),
    path(f"{_GIT}/submodules", git_views.submodules, name="git-submodules"),
    path(f"{_GIT}/submodule", git_acts.submodule, name="git-submodule"),
    path(f"{_GIT}/stashes", git_views.stash, name="git-stashes"),
]

_GOAL = "p/<str:project_id>/s/<str:session_id>/goal"
_goals = [
    path("p/<str:project_id>/compare", comparison_acts.compare, name="compare"),
    path("p/<str:project_id>/comparisons", comparisons.listing, name="comparisons"),
    path(_COMPARISON, comparisons.show, name="comparison"),
    path(f"{_COMPARISON}/state", comparisons.state, name="comparison-state"),
    path(f"{_COMPARISON}/log/<int:number>", comparisons.log, name="comparison-log"),
    path(f"{_COMPARISON}/diff", comparisons.diff, name="comparison-diff"),
    path(f"{_COMPARISON}/stop", comparison_acts.stop, name="stop-comparison"),
    path(f"{_COMPARISON}/measure/<int:number>", comparison_acts.measure, name="measure-attempt"),
    path(f"{_COMPARISON}/take", comparison_acts.take, name="take-attempt"),
    path(f"{_COMPARISON}/combine", comparison_acts.combine, name="combine-attempts"),
    path(f"{_COMPARISON}/clean", comparison_acts.clean, name="clean-comparison"),
    path("p/<str:project_id>/goal", goals.goal, name="goal"),
    path("p/<str:project_id>/s/<str:session_id>/glance", glance.glance, name="glance"),
    path(f"{_GOAL}/log", goals.log, name="goal-log"),
    path(f"{_GOAL}/pause", goals.pause, name="goal-pause"),
    path(f"{_GOAL}/resume", goals.resume, name="goal-resume"),
    path(f"{_GOAL}/end", goals.end, name="goal-end"),
]
_tours = [
    path("p/<str:project_id>/s/<str:session_id>/review/tour", tours.tour, name="tour"),
]
_FORGE = "p/<str:project_id>/forge"
_forge = [
    path(_FORGE, forge_pages.show, name="forge"),
    path(f"{_FORGE}/list", forge_pages.listing, name="forge-list"),
    path(f"{_FORGE}/item", forge_pages.item, name="forge-item"),
    path(f"{_FORGE}/branch", forge_pages.branch, name="forge-branch"),
    path(f"{_FORGE}/told", forge_pages.told, name="forge-told"),
    path(f"{_FORGE}/merge", forge_acts.merge, name="forge-merge"),
    path(f"{_FORGE}/start", forge_acts.start, name="forge-start"),
    path(f"{_FORGE}/draft", forge_acts.draft, name="forge-draft"),
    path(f"{_FORGE}/open", forge_acts.create, name="forge-open"),
    path(f"{_FORGE}/answer", forge_acts.answer, name="forge-answer"),
    path("accounts/forges", forge_hosts.forges, name="forges"),
    path("accounts/forges/keep", forge_hosts.keep, name="forge-keep"),
    path("accounts/forges/test", forge_hosts.test, name="forge-test"),
    path("accounts/forges/forget", forge_hosts.forget, name="forge-forget"),
]

_sandbox = [
    path("settings/sandbox", sandbox_pages.found, name="sandbox"),
    path("settings/looks/files", theme_pages.listing, name="theme-files"),
    path("settings/looks/file", theme_pages.theme, name="theme-file"),
    path("usage", usage_pages.usage, name="usage"),
    path("usage.csv", usage_pages.table, name="usage-file"),
    path("settings/told", prompt_pages.told, name="told"),
    path("settings/configuration", configuration.settings, name="configuration"),
    path("settings/configuration/entry", configuration.entry, name="configured-entry"),
    path("settings/configuration/models", configuration.models, name="configured-models"),
    path("settings/configuration/draft", configuration.preview, name="draft-setting"),
    path("settings/configuration/change", configuration.write, name="change-setting"),
    path("sandbox/port/open", sandbox_pages.open_port, name="sandbox-port-open"),
    path("sandbox/port/close", sandbox_pages.close_port, name="sandbox-port-close"),
    path("sandbox/port/go", sandbox_pages.go, name="sandbox-port-go"),
]

_notifiers = [
    path("settings/notifiers", notifiers.show, name="notifiers"),
    path("settings/notifiers/form", notifiers.form, name="notifier-form"),
    path("settings/notifiers/save", notifiers.save, name="save-notifier"),
    path("settings/notifiers/push", notifiers.add_push, name="add-push"),
    path("settings/notifiers/test", notifiers.test, name="test-notifier"),
    path("settings/notifiers/switch", notifiers.switch, name="switch-notifier"),
    path("settings/notifiers/remove", notifiers.remove, name="remove-notifier"),
]

_accounts = [
    path("accounts", accounts.accounts, name="accounts"),
    path("accounts/server", model_servers.form, name="model-server"),
    path("accounts/server/look", model_servers.look, name="model-server-look"),
    path("accounts/server/add", model_servers.add, name="model-server-add"),
    path("accounts/key", accounts.key, name="account-key"),
    path("accounts/begin", accounts.begin, name="account-begin"),
    path("accounts/code", accounts.code, name="account-code"),
    path("accounts/waiting", accounts.waiting, name="account-waiting"),
    path("accounts/cancel", accounts.cancel, name="account-cancel"),
    path("accounts/forget", accounts.forget, name="account-forget"),
]

_servers = [
    path("servers", views.servers, name="servers"),
    path("servers/badge", views.badge, name="servers-badge"),
    path("servers/mcp/list", views.listing, name="mcp-list"),
    path("servers/mcp/detail", views.detail, name="mcp-detail"),
    path("servers/mcp/schema", views.schema, name="mcp-schema"),
    path("servers/mcp/resource", views.resource, name="mcp-resource"),
    path("servers/mcp/log", views.log, name="mcp-log"),
    path("servers/mcp/switch", acts.switch, name="mcp-switch"),
    path("servers/mcp/apps", acts.apps, name="mcp-apps"),
    path("servers/mcp/restart", acts.restart, name="mcp-restart"),
    path("servers/mcp/try", acts.test, name="mcp-try"),
    path("servers/mcp/removal", acts.removal, name="mcp-removal"),
    path("servers/mcp/remove", acts.remove, name="mcp-remove"),
    path("servers/mcp/sign-in", acts.sign_in, name="mcp-sign-in"),
    path("servers/mcp/cancel", acts.cancel, name="mcp-cancel"),
    path("servers/mcp/sign-out", acts.sign_out, name="mcp-sign-out"),
    path("servers/mcp/form", editing.form, name="mcp-form"),
    path("servers/mcp/words", editing.words, name="mcp-words"),
    path("servers/mcp/test", editing.test, name="mcp-test"),
    path("servers/mcp/save", editing.save, name="mcp-save"),
    path("mcp/oauth/callback", oauth.callback, name="mcp-oauth-callback"),
    path("servers/languages", languages.languages, name="languages"),
    path("servers/languages/log", languages.log, name="language-log"),
    path("servers/languages/more", languages.more, name="more-languages"),
    path("servers/languages/switch", languages.switch, name="switch-languages"),
    path("servers/languages/retry", languages.retry, name="retry-language"),
    path("servers/languages/install", languages.install, name="install-language"),
]

_apps = [
    path(_APP, apps.place, name="app"),
    path(f"{_APP}/frame", apps.frame, name="app-frame"),
    path(f"{_APP}/ask", apps.ask, name="app-ask"),
]

_own_keys = [
    path("accounts/own", own_keys.show, name="own-keys"),
    path("accounts/own/add", own_keys.add, name="add-own-key"),
    path("accounts/own/remove", own_keys.remove, name="remove-own-key"),
    path("accounts/of/<str:project_id>/add", own_keys.add_of_project, name="add-project-key"),
    path("accounts/of/<str:project_id>/remove", own_keys.remove_of_project, name="remove-project-key"),
]
if settings.PEOPLE:
    _accounts += _own_keys
urlpatterns = [
    *(*_pickers, *_git, *_goals, *_tours, *_schedules, *_forge, *_sandbox, *_notifiers),
    *(*_accounts, *_servers, *_apps),
]
