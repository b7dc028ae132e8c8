"""What may be typed next into the search: filters, and the values that are there for one that is begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import F
from django.utils.translation.trans_null import gettext_noop

from sessions.core.models import Project, Session
from sessions.search.query import Name, pieces

MOST = 12


@dataclass(frozen=True, slots=True)
class Completion:
    """`word` takes the place of what is begun; `does` says what that finds."""

    word: str
    does: str = ""


FILTERS: Final[dict[Name, Completion]] = {
    "file": Completion("file:", gettext_noop("changed this file")),
    "ran": Completion("ran:", gettext_noop("ran this command")),
    "has": Completion("has:error", gettext_noop("an error, or a call that failed")),
    "agent": Completion("agent:", gettext_noop("of this agent")),
    "model": Completion("model:", gettext_noop("of this model")),
    "project": Completion("project:", gettext_noop("in this project")),
    "after": Completion("after:", gettext_noop("since a day, month or year")),
    "before": Completion("before:", gettext_noop("until then")),
}
_DAYS = ("today", "yesterday", "7d", "30d")


def completions(text: str, here: str) -> list[Completion]:
    """For a query as far as it is typed; `here` is the project that it was begun in. Call it on the ORM's
    thread."""
    found = pieces(text)
    name, value = found[-1] if found and not text.endswith(" ") else ("", "")
    if name in FILTERS:
        values = [one for one in _values(name, here) if value.lower() in one.lower() and value != one]
        return [Completion(f'{name}:"{one}"' if " " in one else f"{name}:{one}") for one in values[:MOST]]
    return [one for key, one in FILTERS.items() if key.startswith(value.lower()) or not value] or list(
        FILTERS.values()
    )


def _values(name: str, here: str) -> list[str]:
    match name:
        case "agent":
            rows = Session.objects.exclude(agent="").order_by().values_list("agent", flat=True).distinct()
            return sorted(rows[: 5 * MOST])
        case "model":
            models = Session.objects.exclude(model_id="").order_by()
            pairs = models.values_list(F("provider_id"), F("model_id")).distinct()
            return sorted(f"{provider}/{model}" for provider, model in pairs[: 5 * MOST])
        case "project":
            names = Project.objects.order_by("-time_updated").values_list("name", flat=True)[: 5 * MOST]
            return [*(["this"] if here else []), *dict.fromkeys(filter(None, names))]
        case "after" | "before":
            return list(_DAYS)
        case "has":
            return ["error"]
    return []
