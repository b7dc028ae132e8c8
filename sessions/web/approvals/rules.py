"""The page of a project's saved rules and of its audit; revoking a rule; the rules as configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.core.db import in_db
from sessions.core.models import Decision, PermissionRequest, SavedRule, Session
from sessions.core.principal import actor
from sessions.core.store import permissions
from sessions.core.store.permissions import Match
from sessions.core.text import visible
from sessions.core.wire.patterns import matches
from sessions.web.access import project_of
from sessions.web.approvals import kinds
from sessions.web.respond import fragment, late, page

PAGE = 50
_LONGEST = 300
_CHUNK = 200
_MOST_READ = 5000
"""Decisions looked through for one page of a filtered audit: this runs on the ORM's thread."""

FILTERS = {
    "": gettext_noop("Everything"),
    "person": gettext_noop("By a person"),
    "rule": gettext_noop("By a rule"),
    "deny": gettext_noop("Denied"),
    "revoke": gettext_noop("Revoked"),
}


@dataclass(frozen=True, slots=True)
class ShownRule:
    """`where` names the session it reaches or was made in, `url` is that session's page (empty: gone)."""

    row: SavedRule
    text: str
    reach: str
    where: str
    url: str


@dataclass(frozen=True, slots=True)
class ShownDecision:
    row: Decision
    text: str
    verdict: str
    decider: str
    may_pass: bool
    """Whether the call that was denied can be let through."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One page of decisions; `before` is where the next one begins, None at the end."""

    decisions: Sequence[ShownDecision]
    before: int | None
    show: str


@require_GET
async def rules(request: HttpRequest, project_id: str) -> HttpResponse:
    """Saved rules, the configuration's beside them (pulled by URL), and the audit."""
    project = await project_of(project_id)
    return await page(
        request,
        "approvals/rules.html",
        project=project,
        rules=await in_db(_rules, project.id),
        audit=await in_db(_audit, project.id, "", None),
        filters=FILTERS,
        exported=_as_configuration(await in_db(permissions.exported, project.id)),
    )


@require_GET
async def decisions(request: HttpRequest, project_id: str) -> HttpResponse:
    """`?show=` one of FILTERS, `?before=` the id of a decision: the audit's next page."""
    project = await project_of(project_id)
    show, before = request.GET.get("show", ""), request.GET.get("before", "")
    known = show if show in FILTERS else ""
    at = int(before) if before.isdecimal() and len(before) < 19 else None
    template = "approvals/decisions.html" if at else "approvals/audit.html"
    audit = await in_db(_audit, project.id, known, at)
    return fragment(template, project=project, audit=audit, filters=FILTERS)


@require_POST
async def let_through(request: HttpRequest, project_id: str, decision_id: int) -> HttpResponse:
    """Have exactly the call that was denied go through once, when the agent makes it again."""
    project = await project_of(project_id)
    try:
        passed = await in_db(permissions.let_through, project.id, decision_id, actor(request))
    except permissions.ReplyRefused as problem:
        return late(str(problem))
    if passed is None:
        raise Http404(gettext("There is no such denial."))
    return fragment("approvals/passed.html")


@require_POST
async def revoke(request: HttpRequest, project_id: str, rule_id: int) -> HttpResponse:
    """The list of rules without this one; a call that needs it is asked about again at once."""
    project = await project_of(project_id)
    text = await in_db(_revoke, project.id, rule_id, actor(request))
    note = gettext("Revoked: %(text)s") % {"text": text} if text else gettext("This rule is gone already.")
    left = await in_db(_rules, project.id)
    undo = rule_id if text else None
    return fragment("approvals/revoked.html", project=project, rules=left, note=note, undo=undo)


@require_POST
async def restore(request: HttpRequest, project_id: str, rule_id: int) -> HttpResponse:
    """Undo of a revoking: the list of rules with this one again."""
    project = await project_of(project_id)
    text = await in_db(_restore, project.id, rule_id, actor(request))
    note = (
        gettext("Restored: %(text)s") % {"text": text}
        if text
        else gettext("This rule has run out, or is there again already.")
    )
    found = await in_db(_rules, project.id)
    return fragment("approvals/revoked.html", project=project, rules=found, note=note, restored=rule_id)


@require_GET
async def export(request: HttpRequest, project_id: str) -> HttpResponse:
    """The lasting rules as `permission` of a configuration file, to be downloaded."""
    project = await project_of(project_id)
    rules = await in_db(permissions.exported, project.id)
    response = JsonResponse({"permission": rules}, json_dumps_params={"indent": 2, "ensure_ascii": False})
    response["Content-Disposition"] = 'attachment; filename="permission.json"'
    return response


def _as_configuration(rules: object) -> str:
    return visible(json.dumps({"permission": rules}, indent=2, ensure_ascii=False))


def _revoke(project_id: str, rule_id: int, who: str) -> str:
    """What the rule said; empty when it is gone already. Raises Http404 when the project never had it."""
    if not SavedRule.every.filter(project_id=project_id, id=rule_id).exists():
        raise Http404(gettext("There is no such rule."))
    found = next((rule for rule in permissions.rules(project_id) if rule.id == rule_id), None)
    if found is None or not permissions.revoke(found.id, who):
        return ""
    return f"{found.permission}: {found.pattern}"


def _restore(project_id: str, rule_id: int, who: str) -> str:
    """What the rule says; raises Http404 when the project never had one of this id."""
    found = SavedRule.every.filter(project_id=project_id, id=rule_id).first()
    if found is None:
        raise Http404(gettext("There is no such rule."))
    return permissions.in_words([found]) if permissions.restore(rule_id, who) else ""


def _rules(project_id: str) -> list[ShownRule]:
    return [_shown(rule) for rule in reversed(permissions.rules(project_id))]


def _shown(rule: SavedRule) -> ShownRule:
    request = PermissionRequest.objects.select_related("session").filter(id=rule.origin).first()
    session: Session | None = rule.session or (request.session if request else None)
    gone = session is None or session.time_deleted is not None
    return ShownRule(
        rule,
        f"{rule.permission}: {rule.pattern}",
        kinds.reach(rule),
        visible(session.title) if session else "",
        "" if gone or session is None else session.get_absolute_url(),
    )


def _audit(project_id: str, show: str, before: int | None) -> Audit:
    found = list(islice(_matching(project_id, show, before), PAGE + 1))
    more = found[PAGE - 1].id if len(found) > PAGE else None
    return Audit([_decision(row) for row in found[:PAGE]], more, show)


def _decision(row: Decision) -> ShownDecision:
    text = f"{row.permission}: {', '.join(row.patterns)}"
    return ShownDecision(
        row,
        visible(text)[:_LONGEST],
        kinds.verdict(row),
        kinds.decider(row),
        permissions.may_pass(row),
    )


def _matching(project_id: str, show: str, before: int | None) -> Iterator[Decision]:
    for _ in range(_MOST_READ // _CHUNK):
        rows = permissions.decisions(project_id, before=before, limit=_CHUNK)
        yield from (row for row in rows if not show or show in (row.by, row.verdict))
        if len(rows) < _CHUNK:
            return
        before = rows[-1].id


SHOWN = 5


@dataclass(frozen=True, slots=True)
class PastCall:
    """`partly` says that the rule alone would not have allowed it."""

    text: str
    partly: bool
    verdict: str
    time: int


@dataclass(frozen=True, slots=True)
class Past:
    """`fits` says whether the pattern matches what is asked for now; without that it can be no rule."""

    pattern: str
    fits: bool
    total: int
    calls: Sequence[PastCall]

    @property
    def more(self) -> int:
        return self.total - len(self.calls)


def past(row: PermissionRequest, pattern: str) -> Past:
    """Runs on the ORM's thread."""
    found = permissions.matched(row.session.project_id, row.permission, pattern)
    fits = any(matches(pattern, asked) for asked in row.patterns)
    return Past(pattern, fits, found.total, [_call(match) for match in found[:SHOWN]])


def _call(match: Match) -> PastCall:
    row = match.decision
    text = ", ".join(visible(pattern) for pattern in match.matched)
    return PastCall(text[:300], not match.whole, kinds.verdict(row).lower(), row.time_created)
