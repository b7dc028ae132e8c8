"""Our nodes for texts say what Django's say, of all tags there are in templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template import Context, Node, TemplateSyntaxError, engines
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.utils.safestring import mark_safe
from django.utils.translation import override

from sessions.rendering.translating import ConstantNode, SentenceNode, VariableNode

ROOT = Path(settings.BASE_DIR, "templates")
TEMPLATES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.html"))
VALUES = ("a & <b>", mark_safe("a &amp; <b>b</b>"), 1, 2, 2.5, None, [1], "Settings", "100 %")
ENGINE: Any = engines["django"]
OURS = (ConstantNode, VariableNode, SentenceNode)


class Full(Context):
    """Has the same value by every name."""

    def __init__(self, value: Any) -> None:
        super().__init__(use_l10n=False)
        self.value = value
        self.template = ENGINE.from_string("").template

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if super().__contains__(key) else self.value

    def __contains__(self, key: Any) -> bool:
        return True


def nodes(name: str) -> Iterator[Node]:
    """Ours, in the language that each is asked in first."""
    found = ENGINE.get_template(name).template
    for kind in OURS:
        yield from found.nodelist.get_nodes_by_type(kind)


def said(render: Callable[[Context], str], value: Any) -> tuple[type, str]:
    """With the type: what is safe already is not escaped once more."""
    try:
        text = render(Full(value))
    except Exception as error:
        return type(error), ""
    return type(text), text


@pytest.mark.parametrize("name", TEMPLATES)
def test_each_tag_of_a_template_says_what_djangos_says(name: str) -> None:
    for node in nodes(name):
        kind: Any = BlockTranslateNode if isinstance(node, SentenceNode) else TranslateNode
        for language in ("en", "de", "en"):
            for value in VALUES:
                with override(language):
                    expected = said(lambda context: kind.render(node, context), value)  # noqa: B023
                    assert said(node.render, value) == expected, (language, value, node)


def test_there_are_some() -> None:
    kinds = {type(node) for name in TEMPLATES for node in nodes(name)}
    assert kinds == set(OURS)


@pytest.mark.parametrize(
    "tag",
    [
        '{% translate "Settings" as words %}{{ words }}',
        '{% translate "Settings" noop %}',
        '{% translate "none" context "keys" %}',
        '{% translate "Settings"|upper %}',
        "{% blocktranslate asvar words %}Settings{% endblocktranslate %}{{ words }}",
    ],
)
def test_what_is_not_simple_is_djangos(tag: str) -> None:
    made = ENGINE.from_string(tag).template
    assert not [node for kind in OURS for node in made.nodelist.get_nodes_by_type(kind)]
    with override("de"):
        assert made.render(Full("x"))


def test_a_counter_that_is_no_number_is_refused() -> None:
    words = "{% blocktranslate count count=n %}{{ count }} a{% plural %}{{ count }} b{% endblocktranslate %}"
    made = ENGINE.from_string(words)
    with pytest.raises(TemplateSyntaxError):
        made.render({"n": "two"})
    assert made.render({"n": 2}) == "2 b"
    assert made.render({"n": 1}) == "1 a"
