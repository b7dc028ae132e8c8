"""What the sources say to people, as `make words` finds it, without xgettext."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
ROOMS = ("agents", "opencode_web", "sessions")
Text = tuple[str, str]
"""The context and the text; of a plural that for one."""

_IN_TEMPLATES = re.compile(r"""\b(n?p?gettext|_)\(((?:\s*u?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*,?)+)""")
_IN_SCRIPTS = re.compile(r'\bn?gettext\(\s*("(?:[^"\\]|\\.)*")')
_WITH_CONTEXT = ("pgettext", "npgettext", "pgettext_lazy", "npgettext_lazy")
_PLAIN = ("gettext", "ngettext", "gettext_lazy", "ngettext_lazy", "gettext_noop", "Sentence")


def pages() -> set[Text]:
    """Of templates and Python."""
    found = {text for path in (ROOT / "templates").rglob("*.html") for text in _of_template(path.read_text())}
    for room in ROOMS:
        found |= {text for path in (ROOT / room).rglob("*.py") for text in _of_python(path.read_text())}
    return found


def scripts() -> set[Text]:
    folder = ROOT / "static" / "js"
    texts = (path.read_text() for path in folder.glob("*.js"))
    return {("", str(ast.literal_eval(text))) for source in texts for text in _IN_SCRIPTS.findall(source)}


def _of_template(source: str) -> Iterator[Text]:
    if "translate" in source or "_(" in source:
        for name, given in _IN_TEMPLATES.findall(templatize(source)):
            texts = ast.literal_eval(f"({given.strip().rstrip(',')},)")
            yield (texts[0], texts[1]) if name in _WITH_CONTEXT else ("", texts[0])


def _of_python(source: str) -> Iterator[Text]:
    if "gettext" not in source and "Sentence" not in source:
        return
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            texts = [str(one.value) for one in call.args if isinstance(one, ast.Constant)]
            if call.func.id in _PLAIN and texts:
                yield "", texts[0]
            elif call.func.id in _WITH_CONTEXT and len(texts) > 1:
                yield texts[0], texts[1]
