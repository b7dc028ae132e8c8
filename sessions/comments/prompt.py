"""Comments as one prompt: for each its file, its lines, their code, and what the person says."""

from __future__ import annotations

from collections.abc import Iterable

from sessions.models import ReviewComment
from sessions.models.ledger import shown

_SIDES = {"old": " (as it was before your change)", "new": ""}


def prompt_text(comments: Iterable[ReviewComment], words: str = "") -> str:
    """`words` go before the comments."""
    listed = "\n\n".join(_one(comment) for comment in comments)
    return "\n\n".join(filter(None, [words.strip() or "My comments on the changes:", listed]))


def _one(comment: ReviewComment) -> str:
    lines = (
        f"line {comment.start}" if comment.start == comment.end else f"lines {comment.start}-{comment.end}"
    )
    fence = "`" * max(3, _longest_run(comment.code) + 1)
    code = comment.code if comment.code.endswith("\n") else f"{comment.code}\n"
    name = shown(comment.path)
    return f"{name}, {lines}{_SIDES[comment.side]}:\n{fence}\n{code}{fence}\n{comment.text.strip()}"


def _longest_run(text: str) -> int:
    """The longest run of backticks."""
    longest = run = 0
    for character in text:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest
