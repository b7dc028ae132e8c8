"""Django's `{% translate %}` and `{% blocktranslate %}`, for pages with a thousand rows: what does not change
between two renderings of a constant text is found out once per language. What is not simple (`as`, `noop`,
filters, contexts) is left to Django."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.template import Context, Library, Node, Variable, VariableDoesNotExist
from django.template.base import FilterExpression, Parser, Token, TokenType, render_value_in_context
from django.templatetags.i18n import (
    BlockTranslateNode,
    TranslateNode,
    do_block_translate,
    do_translate,
)
from django.utils.html import conditional_escape
from django.utils.safestring import SafeData, mark_safe
from django.utils.translation import get_language, gettext, ngettext

from sessions.core.sentences import Sentence
from sessions.core.sentences import translate as said

register = Library()
_FILLED = re.compile(r"%\((\w+)\)s|%%")
_NAME = re.compile(r"[A-Za-z]\w*")


@register.tag
def translate(parser: Parser, token: Token) -> Node:
    node = do_translate(parser, token)
    given = node.filter_expression
    if node.noop or node.asvar or node.message_context or given.filters:
        return node
    return ConstantNode(given, False) if given.var.lookups is None else VariableNode(given, False)


@register.tag
def blocktranslate(parser: Parser, token: Token) -> Node:
    node = do_block_translate(parser, token)
    names = [part.contents for part in (*node.singular, *node.plural) if part.token_type == TokenType.VAR]
    if node.asvar or node.message_context or not all(map(_NAME.fullmatch, names)):
        return node
    return SentenceNode(node, names)


class ConstantNode(TranslateNode):
    """A text of the template: it is the same whatever the context."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._made: dict[str | None, str] = {}

    def render(self, context: Context) -> str:
        language = get_language()
        made = self._made.get(language)
        if made is None:
            made = self._made[language] = super().render(context)
        return made


class VariableNode(TranslateNode):
    """What a table of the program says, by a variable."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._variable = Variable(self.filter_expression.var.var)

    def render(self, context: Context) -> str:
        try:
            value = self._variable.resolve(context)
        except VariableDoesNotExist:
            return super().render(context)
        if not isinstance(value, str):
            return super().render(context)
        if isinstance(value, Sentence):
            text = said(value)
        else:
            text = gettext(value.replace("%", "%%")).replace("%%", "%")
        if isinstance(value, SafeData):
            return mark_safe(text)  # noqa: S308 (as the variable is)
        return conditional_escape(text) if context.autoescape else text


class SentenceNode(BlockTranslateNode):
    """Texts with names that are filled in, in pieces: text, name, text, name, text."""

    def __init__(self, node: BlockTranslateNode, names: Sequence[str]) -> None:
        super().__init__(
            node.extra_context,
            node.singular,
            node.plural,
            node.countervar,
            node.counter,
            trimmed=node.trimmed,
        )
        self._names = frozenset(names)
        self._one = self.render_token_list(self.singular)[0]
        self._many = self.render_token_list(self.plural)[0]
        self._made: dict[str | None, Sequence[str]] = {}
        self._of: dict[str, Sequence[str]] = {}

    def render(self, context: Context, nested: bool = False) -> str:
        given = {name: value.resolve(context) for name, value in self.extra_context.items()}
        if self.counter and self.countervar:
            pieces = self._counted(self.counter, self.countervar, context, given)
        else:
            pieces = self._sentence()
        if not pieces:
            return super().render(context, nested)
        shown = list(pieces)
        for at in range(1, len(shown), 2):
            shown[at] = self._filled(shown[at], context, given)
        return "".join(shown)

    def _sentence(self) -> Sequence[str]:
        language = get_language()
        made = self._made.get(language)
        if made is None:
            made = self._made[language] = self._pieces(gettext(self._one))
        return made

    def _counted(
        self, counter: FilterExpression, name: str, context: Context, given: dict[str, Any]
    ) -> Sequence[str]:
        """The counter may be of what is `given` beside it."""
        with context.push(**given):
            count = counter.resolve(context)
        if not isinstance(count, int):
            return ()
        given[name] = count
        text = ngettext(self._one, self._many, count)
        made = self._of.get(text)
        if made is None:
            made = self._of[text] = self._pieces(text)
        return made

    def _pieces(self, text: str) -> Sequence[str]:
        """Nothing where a translation fills in what the text has not, as Django says then."""
        pieces = [""]
        end = 0
        for found in _FILLED.finditer(text):
            pieces[-1] += text[end : found.start()]
            end = found.end()
            if found[1] is None:
                pieces[-1] += "%"
            elif found[1] in self._names:
                pieces += [found[1], ""]
            else:
                return ()
        pieces[-1] += text[end:]
        return () if "%" in _FILLED.sub("", text) else pieces

    @staticmethod
    def _filled(name: str, context: Context, given: Mapping[str, Any]) -> str:
        if name in given:
            value = given[name]
        elif name in context:
            value = context[name]
        else:
            default = context.template.engine.string_if_invalid if context.template else ""
            value = default % name if "%s" in default else default
        if isinstance(value, str):
            return conditional_escape(value) if context.autoescape else value
        return str(render_value_in_context(value, context))
