"""A prompt as the form sends it: text, attached files, choice of agent and model."""

from __future__ import annotations

import json
from typing import Any

from django.http import QueryDict

MAX_TEXT = 2_000_000
MAX_FILES_BYTES = 20 * 1024 * 1024
MIMES = ("image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain")


class BadPrompt(ValueError):
    """The prompt is refused; the text is for the person who wrote it."""


def parts_of(form: QueryDict) -> list[dict[str, Any]]:
    """The wire's prompt parts of a form with `text` and any number of `file` (JSON); raises BadPrompt."""
    text = form.get("text", "").replace("\r\n", "\n")  # as forms encode line breaks
    files = [_file(raw) for raw in form.getlist("file")]
    if not text.strip() and not files:
        raise BadPrompt("Write something first.")
    if len(text) > MAX_TEXT:
        raise BadPrompt(
            f"This is {len(text):,} characters; a prompt may have {MAX_TEXT:,}. "
            "Save it as a file in the project and mention it with @."
        )
    if sum(len(file["url"]) for file in files) > MAX_FILES_BYTES * 4 / 3:
        raise BadPrompt(f"The attached files are larger than {MAX_FILES_BYTES // 1024**2} MB together.")
    parts: list[dict[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
    return parts + files


def _file(raw: str) -> dict[str, Any]:
    try:
        data = json.loads(raw)
        mime, url, name = str(data["mime"]), str(data["url"]), str(data.get("filename") or "file")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadPrompt("An attached file came through damaged; attach it again.") from error
    if mime not in MIMES or not url.startswith(f"data:{mime};base64,"):
        raise BadPrompt(f"{name}: only images, PDF and plain text can be attached.")
    return {"type": "file", "mime": mime, "url": url, "filename": name[:200]}


def choice_of(form: QueryDict) -> dict[str, str]:
    """The agent and model picked beside the prompt; absent ones are the session's."""
    choice = {"agent": form.get("agent", "")}
    provider_id, _, model_id = form.get("model", "").partition("/")
    if provider_id and model_id:
        choice |= {"provider_id": provider_id, "model_id": model_id}
    return choice
