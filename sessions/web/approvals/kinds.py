"""What a request of each permission says: a title, its subject, what would be run or read, labelled facts."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop

from sessions.core.ids import now
from sessions.core.models import Decision, PermissionRequest, SavedRule
from sessions.core.store.permissions import app_of
from sessions.core.store.permissions.marks import doubts, plain
from sessions.core.text import visible
from sessions.rendering.tools import relative

_LINE = 200
Facts = tuple[tuple[str, str], ...]
FOLDED = 32 * 1024
"""Characters of code after which the rest is folded: it has to be opened before it can be allowed."""


@dataclass(frozen=True, slots=True)
class Details:
    """`code` is shown as it would be run or sent, nothing left out; all texts are fit to be shown."""

    title: str
    icon: str
    subject: str = ""
    code: str = ""
    facts: Facts = ()

    @property
    def line(self) -> str:
        """What it is about in one line, for a list."""
        return (self.code or self.subject).strip().partition("\n")[0][:_LINE]

    @property
    def is_a_line(self) -> bool:
        """Whether the line says all of it, so that it may be allowed where no more is shown."""
        return not self.facts and (self.code or self.subject).strip() == self.line

    @property
    def head(self) -> str:
        """The part of the code that is shown at once."""
        return self.code[:FOLDED]

    @property
    def rest(self) -> str:
        """The part after it, folded."""
        return self.code[FOLDED:]


def details(row: PermissionRequest, root: str) -> Details:
    """What a request asks, without the diff of an edit (`proposals`); `root` is the project's folder."""
    told = _details(row, root)
    said = visible(str(row.metadata.get("reviewer", "")))
    return replace(told, facts=(*told.facts, (gettext("The reviewer"), said))) if said else told


def _details(row: PermissionRequest, root: str) -> Details:
    if row.permission == "edit" and "command" in row.metadata:
        return Details(gettext("Let a command write a protected file?"), "terminal", **_command(row, root))
    known = _KINDS.get(row.permission)
    if known is None and {"server", "tool", "input"} <= row.metadata.keys():
        return Details(_use(row), "plug", **_of_server(row, root))
    if known is None:
        return Details(_use(row), "tool", **_anything(row, root))
    title, icon, told = known
    return Details(gettext(title), icon, **told(row, root))


def _use(row: PermissionRequest) -> str:
    return gettext("Use %(permission)s?") % {"permission": visible(row.permission)}


def _edit(row: PermissionRequest, root: str) -> dict[str, Any]:
    return {"subject": visible(relative(str(row.metadata.get("filepath") or ", ".join(row.patterns)), root))}


def _command(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = row.metadata
    facts = []
    if data.get("workdir") and data["workdir"] != root:
        facts.append((gettext("In folder"), visible(str(data["workdir"]))))
    about = plain(row.patterns)
    if row.permission != "bash" or len(about) > 1:
        facts.append((gettext(_ASKS_ABOUT.get(row.permission, _ASKS)), _listed(about)))
    facts += [(gettext("Mind"), gettext(words)) for words in doubts(row.patterns)]
    return {
        "subject": visible(str(data.get("description", ""))),
        "code": visible(str(data.get("command", ""))),
        "facts": tuple(facts),
    }


def _file(row: PermissionRequest, root: str) -> dict[str, Any]:
    path = str(row.metadata.get("filepath") or row.metadata.get("path") or ", ".join(row.patterns))
    return {"subject": visible(relative(path, root))}


def _outside(row: PermissionRequest, root: str) -> dict[str, Any]:
    if "command" in row.metadata:
        return _command(row, root)
    return {**_file(row, root), "facts": ((gettext("Folder"), _listed(row.patterns)),)}


def _search(row: PermissionRequest, root: str) -> dict[str, Any]:
    where = row.metadata.get("path")
    facts = ((gettext("In"), visible(str(where))),) if where else ()
    return {"code": _listed(row.patterns), "facts": facts}


def _page(row: PermissionRequest, root: str) -> dict[str, Any]:
    url = str(row.metadata.get("url") or "") or _listed(row.patterns)
    return {"code": visible(url)}


def _site(row: PermissionRequest, root: str) -> dict[str, Any]:
    """A site that the agent's browser is to open, or is led to by a page."""
    since = visible(str(row.metadata.get("from", "")))
    facts = [(gettext("Site"), _listed(row.patterns))]
    return {**_page(row, root), "facts": (*facts, *([(gettext("From the page"), since)] if since else ()))}


def _private(row: PermissionRequest, root: str) -> dict[str, Any]:
    """An address of this machine or its network, which the page of a stranger could have named."""
    if "command" in row.metadata:
        told = _host(row, root)
        address = (gettext("Address"), visible(str(row.metadata.get("address", ""))))
        return {**told, "facts": (*told["facts"], address)}
    known = [
        (label, visible(str(row.metadata[key])))
        for label, key in ((gettext("Host"), "host"), (gettext("Address"), "address"))
        if row.metadata.get(key)
    ]
    return {
        **_page(row, root),
        "subject": gettext("It is on this machine or its private network."),
        "facts": tuple(known),
    }


def _host(row: PermissionRequest, root: str) -> dict[str, Any]:
    """Where a confined command wants to."""
    port = row.metadata.get("port")
    return {
        **_command(row, root),
        "subject": _listed(row.patterns),
        "facts": ((gettext("Port"), visible(str(port))),) if port else (),
    }


def _leaving(row: PermissionRequest, root: str) -> dict[str, Any]:
    """A command that the sandbox would not do for."""
    told = _command(row, root)
    facts = [fact for fact in told["facts"] if fact[0] == gettext("In folder")]
    reason = str(row.metadata.get("reason", ""))
    return {**told, "facts": (*facts, (gettext("The agent’s reason"), visible(reason)))}


def _query(row: PermissionRequest, root: str) -> dict[str, Any]:
    return {"code": _listed(row.patterns)}


def _skill(row: PermissionRequest, root: str) -> dict[str, Any]:
    return {"subject": _listed(row.patterns)}


def _anything(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = json.dumps(row.metadata, ensure_ascii=False, indent=2) if row.metadata else ""
    return {"subject": _listed(row.patterns), "code": visible(data)}


def _of_server(row: PermissionRequest, root: str) -> dict[str, Any]:
    """A tool of an MCP server, with its arguments."""
    data = row.metadata
    given = json.dumps(data["input"], ensure_ascii=False, indent=2) if data["input"] else ""
    about = {"tool": data["tool"], "server": data["server"]}
    asks = gettext("The app shown in the conversation asks for %(tool)s, of the MCP server %(server)s")
    subject = asks if app_of(row) else gettext("%(tool)s, of the MCP server %(server)s")
    return {
        "subject": visible(subject % about),
        "code": visible(given),
    }


def _sampling(row: PermissionRequest, root: str) -> dict[str, Any]:
    """What an MCP server puts to the model."""
    return {
        "subject": visible(
            gettext("The MCP server %(patterns)s asks %(model)s:")
            % {"patterns": _listed(row.patterns), "model": row.metadata.get("model", "")}
        ),
        "code": visible(str(row.metadata.get("prompt", ""))),
    }


def _errand(row: PermissionRequest, root: str) -> dict[str, Any]:
    data = row.metadata
    return {
        "subject": visible(f"@{data.get('subagent_type', '')}: {data.get('description', '')}"),
        "code": visible(str(data.get("prompt", ""))),
    }


def _repeated(row: PermissionRequest, root: str) -> dict[str, Any]:
    given = json.dumps(row.metadata.get("input") or {}, ensure_ascii=False, indent=2)
    return {
        "subject": gettext("%(tool)s, three times with the same input")
        % {"tool": visible(str(row.metadata.get("tool", "")))},
        "code": visible(given),
    }


def _beyond(row: PermissionRequest, root: str) -> dict[str, Any]:
    """A limit that is reached: what it is, by whom, and what going on means."""
    data = row.metadata
    facts = {
        gettext("Reached by"): " → ".join(f"@{name}" for name in data.get("agents", ())),
        gettext("Allow once"): str(data.get("further", "")),
    }
    return {
        "subject": visible(gettext("The limit here: %(limit)s") % {"limit": data.get("limit", "")}),
        "facts": tuple((name, visible(value)) for name, value in facts.items() if value),
    }


def _listed(patterns: list[str]) -> str:
    return visible("\n".join(patterns))


_ASKS = gettext_noop("Asks about")
_ASKS_ABOUT = {
    "bash": gettext_noop("Runs"),
    "external_directory": gettext_noop("Outside of the project"),
    "edit": gettext_noop("Writes"),
}
_KINDS: dict[str, tuple[str, str, Callable[[PermissionRequest, str], dict[str, Any]]]] = {
    "edit": (gettext_noop("Change this file?"), "edit", _edit),
    "mcp_sampling": (gettext_noop("Let a server ask the model?"), "plug", _sampling),
    "bash": (gettext_noop("Run this command?"), "terminal", _command),
    "read": (gettext_noop("Read this file?"), "file", _file),
    "list": (gettext_noop("List this folder?"), "folder", _file),
    "glob": (gettext_noop("Find files by name?"), "search", _search),
    "grep": (gettext_noop("Search in files?"), "search", _search),
    "lsp": (gettext_noop("Ask the language server about this file?"), "search", _file),
    "webfetch": (gettext_noop("Fetch this page?"), "globe", _page),
    "browser": (gettext_noop("Open this site in the agent’s browser?"), "globe", _site),
    "private_address": (gettext_noop("Reach a private address?"), "shield", _private),
    "sandbox": (gettext_noop("Run this outside of the sandbox?"), "shield", _leaving),
    "network": (gettext_noop("Let this command reach the network?"), "globe", _host),
    "websearch": (gettext_noop("Search the web for this?"), "globe", _query),
    "codesearch": (gettext_noop("Search for this code?"), "globe", _query),
    "skill": (gettext_noop("Load this skill?"), "spark", _skill),
    "external_directory": (gettext_noop("Leave the project’s folder?"), "folder", _outside),
    "task": (gettext_noop("Send this subagent?"), "spark", _errand),
    "limit": (gettext_noop("Go on beyond a limit?"), "alert", _beyond),
    "doom_loop": (gettext_noop("Go on repeating the same call?"), "alert", _repeated),
}


MOST_NAMED = 60
"""Characters of what a request is about that a sentence has room for."""

_SETTLED = {
    "once": gettext_noop("allowed once"),
    "always": gettext_noop("allowed by a rule"),
    "reject": gettext_noop("rejected"),
}
_ENDED = gettext_noop("The call or its turn has ended; this question no longer waits for an answer.")
_VERDICTS = {
    "allow": gettext_noop("Allowed"),
    "deny": gettext_noop("Denied"),
    "cancel": gettext_noop("Withdrawn"),
    "revoke": gettext_noop("Revoked"),
    "restore": gettext_noop("Restored"),
    "pass": gettext_noop("Let through once"),
}
_DECIDERS = {
    "person": gettext_noop("by a person"),
    "rule": gettext_noop("by a saved rule"),
    "plugin": gettext_noop("by a plugin"),
    "preset": gettext_noop("by the session’s mode"),
    "reviewer": gettext_noop("by the reviewer"),
    "review": gettext_noop("as it waits for review"),
    "configuration": gettext_noop("by the configuration"),
    "stop": gettext_noop("because the turn was stopped"),
    "call": gettext_noop("because the file changed and the call proposed anew"),
    "app": gettext_noop("for an app of its server"),
}
_SCOPES = {
    "once": gettext_noop("once"),
    "turn": gettext_noop("for the turn"),
    "session": gettext_noop("for the session"),
    "project": gettext_noop("for the project"),
    "minutes": gettext_noop("for some minutes"),
    "pass": gettext_noop("as it was let through"),
}


def settled(row: PermissionRequest, me: str) -> str:
    """Why a request can no longer be answered, to `me` who tried."""
    if row.state not in _SETTLED:
        return gettext(_ENDED)
    line = details(row, row.session.project.worktree).line
    about = f"“{line if len(line) <= MOST_NAMED else line[:MOST_NAMED] + '…'}”" if line else gettext("This")
    said = {"about": about, "state": gettext(_SETTLED[row.state]), "actor": row.actor}
    if not row.actor:
        return gettext("%(about)s was answered already: %(state)s.") % said
    if row.actor == me:
        return gettext("%(about)s was answered already: %(state)s, in another window.") % said
    return gettext("%(about)s was answered already: %(state)s, by %(actor)s.") % said


def verdict(decision: Decision) -> str:
    return gettext(_VERDICTS.get(decision.verdict, decision.verdict))


def decider(decision: Decision) -> str:
    """Who or what decided, and how far an allow reached."""
    by = gettext(_DECIDERS.get(decision.by, decision.by))
    who = f" ({decision.actor})" if decision.actor else ""
    reach = (
        gettext(_SCOPES.get(decision.scope, ""))
        if decision.verdict == "allow" and decision.by == "person"
        else ""
    )
    return f"{by}{who}{f', {reach}' if reach else ''}"


def reach(rule: SavedRule) -> str:
    """How far a saved rule reaches."""
    if rule.time_expires is not None:
        minutes = max(1, round((rule.time_expires - now()) / 60_000))
        words = ngettext("for %(minutes)s more minute", "for %(minutes)s more minutes", minutes)
        return words % {"minutes": minutes}
    if rule.scope == "turn":
        return gettext("this turn")
    return gettext("this session") if rule.scope == "session" else gettext("this project")
