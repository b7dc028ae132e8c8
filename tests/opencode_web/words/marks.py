"""Finds what people read and nobody can translate: in templates, in Python, in scripts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser

_READ = frozenset(
    {
        *("alt", "aria-label", "aria-roledescription", "aria-valuetext", "label", "placeholder", "title"),
        *("data-confirm", "data-label", "data-title", "hx-confirm", "hx-prompt"),
    }
)
"""Attributes that people see or hear."""
_QUOTED = frozenset({"code", "kbd", "script", "style", "svg"})
"""Elements of what is the same in every language."""
_NAMES = re.compile(
    r"opencode-web|OpenCode|opencode\.json|tui\.json|OPENCODE_\w+|Git(?:Hub|Lab)?|Forgejo|Geist Mono|Markdown"
    r"|myeditor --line \{line\} \{path\}|JSON|MCP|LSP|Mermaid|OAuth|OTP|PDF|URL|UTC|[KMGT]B|localhost|~/\S+"
    r"|\.\./\S+|https?:\S*|\b(?:ms|min|npm|PyPI)\b|github\.com|npx -y \S+|\bAuthorization\b"
    r"|Terminal \$\{number\}"
)
_WORDS = re.compile(r"[^\W\d_]{2,}")
_MARKED = re.compile(
    r"\{#.*?#\}|\{%\s*(comment|blocktranslate)\b.*?\{%\s*end\1\s*%\}"
    r"|\{%\s*block \w*attributes\b.*?\{%\s*endblock\s*%\}",
    re.DOTALL,
)
_TAG = re.compile(r"\{%\s*(empty_state|include|with|firstof)\b(.*?)%\}|\{\{(.*?)\}\}")
_LITERAL = re.compile(r"""(?<!_\()(?<![\w"'])(?:"([^"]*)"|'([^']*)')""")
_WRITTEN = re.compile(r"\|(?:default|yesno)(?:_if_none)?:(\"[^\"]*\"|'[^']*')")
_EXPRESSION = re.compile(r"\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)


def says(text: str) -> bool:
    """Whether there are words of a language in it, and not only names."""
    return bool(_WORDS.search(_NAMES.sub("", text)))


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._within: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _QUOTED:
            self._within.append(tag)
        self.found += (f"{name}={value}" for name, value in attrs if name in _READ and value and says(value))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._within and self._within[-1] == tag:
            self._within.pop()

    def handle_data(self, data: str) -> None:
        if not self._within and says(data):
            self.found.append(" ".join(data.split()))


def in_template(source: str) -> list[str]:
    """Texts, attributes, and what is given to tags and filters."""
    rest = _MARKED.sub("", source)
    given: list[str] = []
    for name, arguments, expression in _TAG.findall(rest):
        found = _WRITTEN.findall(expression or arguments)
        if name in ("empty_state", "firstof"):
            found = [first or second for first, second in _LITERAL.findall(arguments)]
        elif name:
            found += [text for text in re.findall(r'=("[^"]*")', arguments) if text[1:2].isupper()]
        given += (text for text in found if " " in text or text.strip("\"'")[:1].isupper())
    reader = _Reader()
    reader.feed(_EXPRESSION.sub("", rest))
    reader.close()
    return reader.found + [text for text in given if says(text)]


_SAYING = frozenset({"toast", "late", "refused", "beside", "Http404", "Refused"})
"""Functions and exceptions whose first words reach a person."""
PROBLEMS = frozenset(
    "AnswerRefused BadCheck BadPattern BadReplacement BadSkill BadTime Begun CannotFork CannotOpen "
    "CannotRemove CannotReset CannotWrite Changed ComparisonRefused Differs Disabled FilePlan "
    "ForgeError Found FrontmatterError GoalRefused InvalidInput JsoncError Missing NoJudge NoRoot "
    "NoTheme NoneWaits NotAsked NotClean NotRestored NotSent NothingToCompact NothingToResume "
    "OfTheSame Outside PromptRefused ScheduleRefused SearchFailed SignInFailed SkillProblem "
    "StaleReply TooLarge Trial Unencodable Unfit UnknownAgent UnknownCommand Wrong fault switch_off".split()
)
"""The same below the pages: what is refused, and what is wrong with something that a page shows."""


def in_python(source: str, saying: frozenset[str] = _SAYING) -> list[str]:
    """Texts that are given to what shows them as they stand."""
    return [
        ast.unparse(argument)
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and _name(call.func) in saying
        for argument in [
            *call.args[_name(call.func) == "beside" :],
            *(one.value for one in call.keywords if one.arg in ("message", "problem", "reason", "text")),
        ]
        if _is_said(argument)
    ]


def _name(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _is_said(argument: ast.expr) -> bool:
    match argument:
        case ast.Constant(value=str(text)):
            return " " in text and says(text)
        case ast.JoinedStr(values=values):
            return any(isinstance(one, ast.Constant) and says(str(one.value)) for one in values)
        case ast.IfExp(body=one, orelse=other):
            return _is_said(one) or _is_said(other)
    return False


_GIVEN = re.compile(r"""\bn?gettext\((?:\s*"(?:[^"\\]|\\.)*",?)+""")
_SCRIPT_TEXT = re.compile(r"""(["'`])((?:(?!\1)[^\\]|\\.)*)\1""")
_SENTENCE = re.compile(r"[A-Z][a-z’']*(?: [\w’'…,:;.%()${}-]+)+[.…!?]?$")


def in_script(source: str) -> list[str]:
    """Texts that look like a sentence, or like what stands on a button of more than a word; not what an error
    of a program is called, nor what an app of a server is told."""
    return list(_sentences(source))


def _sentences(source: str) -> Iterator[str]:
    for line in source.splitlines():
        code = line.split(" // ")[0]
        if (
            "new Error(" in code
            or "new Problem(" in code
            or code.lstrip().startswith(("//", "import ", "*", "console."))
        ):
            continue
        for _, text in _SCRIPT_TEXT.findall(_GIVEN.sub("", code)):
            if _SENTENCE.match(text) and says(text):
                yield text
