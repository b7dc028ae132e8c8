"""Django's templates, in which what is written out is for machines where no filter says otherwise."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.template import TemplateDoesNotExist
from django.template.backends.django import DjangoTemplates, Template, reraise
from django.template.context import make_context
from django.utils.safestring import SafeString


class Templates(DjangoTemplates):
    """`{{ 0.5 }}` is `0.5` in every language: in attributes, styles and JSON nothing else is understood.
    Numbers for people go through filters (`sessions.web.templatetags.page`)."""

    def get_template(self, template_name: str) -> Template:
        try:
            return _Template(self.engine.get_template(template_name), self)
        except TemplateDoesNotExist as error:
            reraise(error, self)

    def from_string(self, template_code: str) -> Template:
        return _Template(self.engine.from_string(template_code), self)


class _Template(Template):
    def render(self, context: dict[str, Any] | None = None, request: HttpRequest | None = None) -> SafeString:
        made = make_context(context, request, autoescape=self.backend.engine.autoescape)
        made.use_l10n = False
        try:
            return self.template.render(made)
        except TemplateDoesNotExist as error:
            reraise(error, self.backend)
