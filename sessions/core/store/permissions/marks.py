"""What a pattern of a request begins with where it stands for a doubt and not for what runs.

No rule for a known command fits it (docs/decisions/0023).
"""

from __future__ import annotations

from typing import Final

from django.utils.translation.trans_null import gettext_noop

UNREADABLE: Final = "unreadable: "
UNCERTAIN: Final = "may be denied: "
RUNS: Final = "runs another program: "

WORDS: Final = {
    UNREADABLE: gettext_noop(
        "Parts of this line were not understood. Rules for known commands do not count for it."
    ),
    UNCERTAIN: gettext_noop("It may turn out to be something that you denied."),
    RUNS: gettext_noop("By an option it can run another program."),
}
"""For the person who is asked."""


def doubts(patterns: list[str]) -> list[str]:
    """The words for the marks among them."""
    return [words for mark, words in WORDS.items() if any(pattern.startswith(mark) for pattern in patterns)]


def plain(patterns: list[str]) -> list[str]:
    """Those without a mark."""
    return [pattern for pattern in patterns if not pattern.startswith(tuple(WORDS))]
