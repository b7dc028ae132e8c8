"""Django's `makemessages`, which finds the texts of sentences, too (`sessions.core.sentences`)."""

from __future__ import annotations

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=Sentence"]  # noqa: RUF012
