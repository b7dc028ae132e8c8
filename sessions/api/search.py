"""`/find/message`: the search over conversations, beside OpenCode's `/find` over files (ours)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Router
from pydantic import Field

from sessions.api.base import project_of, wire
from sessions.api.described import answers
from sessions.core.db import in_db
from sessions.core.wire.base import Amount
from sessions.core.wire.search import MessageMatches
from sessions.search.hits import HITS
from sessions.search.matches import matches
from sessions.search.query import parse

router = Router()

Limit = Annotated[int, Field(ge=1, le=200)]


@router.get("/find/message", operation_id="find.messages")
@answers(MessageMatches, errors=(403, 404))
async def find_messages(
    request: HttpRequest, query: str, limit: Limit = HITS, before: Amount | None = None
) -> HttpResponse:
    """The newest first. `query` is what the page takes, filters included; `project:this` is the project of
    the request's folder, and days are those of UTC."""
    project = await project_of(request)
    asked = parse(query, datetime.now(UTC))
    return wire((await in_db(matches, asked, here=project.id, before=before, limit=limit)).wire())
