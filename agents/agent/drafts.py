"""A draft by the small model of what a person is about to say in git: a commit's message, a pull request."""

from __future__ import annotations

from pathlib import Path

from django.utils.translation import gettext

from agents.llm.counted import words_of
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, Model, ModelError, ModelRequest, TextContent
from agents.toolkit.catalog import default_ref, small_model
from sessions.changes.git.command import GitError
from sessions.core.models import Session

MAX_DIFF = 24_000
"""Characters of a patch that the model is given; the list of files comes before it."""
PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short")
"""How git is asked for what the model is given."""


async def draft(directory: Path, session: Session, system: str, asked: str, *, most: int) -> str:
    """What the model writes of what it is `asked`, in at most so many tokens, without what it thought and
    without a fence. What it costs is the session's. Raises GitError where no model answers."""
    model = await small_model(directory, await default_ref(directory, session))
    if model is None or model.protocol == "scripted":
        raise GitError(gettext("There is no model to draft it: connect a provider first."))
    try:
        text = await written(model, session, system, asked, most=most)
    except ModelError as error:
        raise GitError(
            gettext("The model did not answer: %(message)s") % {"message": error.message}
        ) from error
    return text.removeprefix("```").removesuffix("```").strip()


async def written(model: Model, session: Session, system: str, asked: str, *, most: int) -> str:
    """What a model writes, without what it thought. Raises ModelError."""
    request = ModelRequest(
        model=model,
        system=[system],
        messages=[ChatMessage("user", [TextContent(asked)])],
        controls=Controls(max_output=most),
    )
    text, _ = await words_of(session.id, request)
    return (text.partition("</think>")[2] or text).strip()


def patch(text: str) -> str:
    """As much of a patch as the model is given."""
    cut = "\n(The rest of the patch is left out.)" if len(text) > MAX_DIFF else ""
    return f"The patch:\n{text[:MAX_DIFF]}{cut}"
