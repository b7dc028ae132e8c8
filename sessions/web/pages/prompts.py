"""A prompt as the form sends it: text, mentioned agents, attached files, choice of agent and model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, cast, get_args

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from sessions.changes import actions
from sessions.core.data_url import by_address
from sessions.core.sentences import grouped
from sessions.core.store.compaction import NothingToCompact
from sessions.core.store.inbox import Delivery
from sessions.web.access import session_of
from sessions.web.respond import done, refused

MAX_TEXT = 2_000_000
MAX_FILES_BYTES = 20 * 1024 * 1024
MAX_MENTIONS = 50
_MESSAGE_ID = re.compile(r"msg_[0-9a-f]{12}[0-9A-Za-z]{14}")
MIMES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain")


class BadPrompt(ValueError):
    """The prompt is refused; the text is for the person who wrote it."""


def parts_of(form: QueryDict) -> list[dict[str, Any]]:
    """The wire's prompt parts of a form with `text`, any number of `agent_mention` (names), of `part_mention`
    and of `file` (JSON). Raises BadPrompt."""
    files = [_file(raw) for raw in form.getlist("file")]
    if not form.get("text", "").strip() and not files:
        raise BadPrompt(gettext("Write something first."))
    if sum(len(file["url"]) for file in files) > MAX_FILES_BYTES * 4 / 3:
        raise BadPrompt(
            gettext("The attached files are larger than %(value)s MB together.")
            % {"value": MAX_FILES_BYTES // 1024**2}
        )
    return [*written_of(form), *files]


def written_of(form: QueryDict) -> list[dict[str, Any]]:
    """The text, and the agents and files mentioned in it; nothing for blank text. Raises BadPrompt."""
    text = form.get("text", "").replace("\r\n", "\n")  # as forms encode line breaks
    if len(text) > MAX_TEXT:
        raise BadPrompt(
            gettext(
                "This is %(text)s characters; a prompt may have %(max_text)s. "
                "Save it as a file in the project and mention it with @."
            )
            % {
                "text": grouped(len(text)),
                "max_text": grouped(MAX_TEXT),
            }
        )
    if not text.strip():
        return []
    mentions = [_mention(text, name) for name in dict.fromkeys(form.getlist("agent_mention")[:MAX_MENTIONS])]
    parts = [_mentioned_part(text, raw) for raw in form.getlist("part_mention")[:MAX_MENTIONS]]
    return [{"type": "text", "text": text}, *(part for part in (*mentions, *parts) if part)]


def attached_of(parts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The files of a prompt's parts that can be attached to another, as its form has them."""
    return [
        {"mime": part["mime"], "url": part["url"], "filename": part.get("filename") or "file"}
        for part in parts
        if part["type"] == "file" and part["mime"] in MIMES and not by_address(part)
    ]


def _mention(text: str, name: str) -> dict[str, Any] | None:
    """An agent as a part, with where it stands; None when it does not."""
    place = place_of(text, f"@{name}") if name else None
    return {"type": "agent", "name": name, "source": place} if place else None


def _mentioned_part(text: str, raw: str) -> dict[str, Any] | None:
    """What a suggestion stands for, as a file part whose content is read when the prompt is promoted: a file
    or a symbol by its address, or a resource. None when it is not in the text. Raises BadPrompt."""
    try:
        words, part = json.loads(raw)
        source, place = dict(part["source"]), place_of(text, str(words))
        kept = {key: str(part[key]) for key in ("mime", "url", "filename")}
    except (ValueError, KeyError, TypeError) as error:
        raise BadPrompt(gettext("Something mentioned with @ came through damaged; pick it again.")) from error
    if not by_address({**kept, "source": source}):
        raise BadPrompt(gettext("A mention has an address, not a content."))
    return {"type": "file", **kept, "source": {**source, "text": place}} if place else None


def place_of(text: str, words: str) -> dict[str, Any] | None:
    """Where the words of a mention stand first, in UTF-16 units as browsers count; None when they do not."""
    found = re.search(rf"(?<!\S){re.escape(words)}(?![\w/-])", text)
    if found is None:
        return None
    start, length = _units(text[: found.start()]), _units(found[0])
    return {"value": found[0], "start": start, "end": start + length}


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _file(raw: str) -> dict[str, Any]:
    try:
        data = json.loads(raw)
        mime, url, name = str(data["mime"]), str(data["url"]), str(data.get("filename") or "file")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadPrompt(gettext("An attached file came through damaged; attach it again.")) from error
    if mime not in MIMES or not url.startswith(f"data:{mime};base64,"):
        raise BadPrompt(
            gettext("%(name)s: only images, PDF and plain text can be attached.") % {"name": name}
        )
    return {"type": "file", "mime": mime, "url": url, "filename": name[:200]}


def choice_of(form: QueryDict) -> dict[str, str]:
    """The agent, model, variant and delivery picked beside the prompt; absent ones are the session's, and
    `queue`. With the id that the page gave it, so that it is the same prompt when it is sent again. Raises
    BadPrompt."""
    choice = {"agent": form.get("agent", "")}
    if message_id := form.get("message_id", ""):
        if not _MESSAGE_ID.fullmatch(message_id):
            raise BadPrompt(gettext("This is no id of a prompt."))
        choice["message_id"] = message_id
    provider_id, _, model_id = form.get("model", "").partition("/")
    if provider_id and model_id:
        choice |= {"provider_id": provider_id, "model_id": model_id, "variant": form.get("variant", "")}
    if delivery := form.get("delivery"):
        choice["delivery"] = delivery_of(delivery)
    return choice


def delivery_of(name: str) -> Delivery:
    """Raises BadPrompt for anything that is no delivery."""
    for delivery in get_args(Delivery):
        if name == delivery:
            return cast(Delivery, delivery)
    raise BadPrompt(gettext("A prompt either steers or is queued."))


@require_POST
async def compact(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """At once, or when the turn that runs has ended."""
    try:
        await actions.compact(await session_of(project_id, session_id))
    except NothingToCompact as problem:
        return refused(str(problem))
    return done()
