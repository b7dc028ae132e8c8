"""Helpers of the templates (built in: no `load` needed)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.formats import date_format, number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, pgettext

from sessions.changes.upkeep import damage
from sessions.core.ids import now
from sessions.core.sentences import Sentence, grouped, translate
from sessions.core.text import visible
from sessions.rendering.html import html, icon
from sessions.web.shortcuts import GROUPS, SHORTCUTS, Group

register = template.Library()
register.simple_tag(icon)

_SHEET = re.compile(r'<link rel="stylesheet" href="(\S+)/css/(\S+)\.css">')
_SCRIPT = re.compile(r'<script type="module" src="(\S+)/js/(\S+)\.js"></script>')


@register.simple_tag
def root() -> str:
    """Before the path of an address that has no name: what the guard answers, and what scripts ask for."""
    return str(settings.BASE_PATH)


@register.simple_tag
def language() -> str:
    """The code of the language in which this is written."""
    return get_language() or settings.LANGUAGE_CODE


@register.simple_tag
def language_script() -> SafeString:
    """The script with what the others say in the reader's language, before them (static/js/words.js). English
    is their own."""
    code = language()
    if code == settings.LANGUAGE_CODE:
        return SafeString()
    return format_html('<script src="{}" defer></script>', static(f"words/{code}.js"))


@register.simple_tag
def kept_deleted() -> float:
    """Days for which a deleted session can be restored; 0 where that is for ever."""
    days: float = settings.RETENTION.deleted_days or 0
    return int(days) if days == int(days) else days


@register.simple_tag
def machines() -> str:
    """The page with the machines of the team that this one is of; empty where it is of none."""
    return str(settings.FRONT_PATH)


@register.simple_tag
def shortcut_groups() -> tuple[Group, ...]:
    """All shortcuts, for the help."""
    return GROUPS


@register.simple_tag
def keys(name: str) -> SafeString:
    """The keys of one shortcut as a person knows them, alternatives with "or" (static/js/key-hint.js)."""
    return format_html('<key-hint name="{}"></key-hint>', SHORTCUTS[name].name)


@register.simple_tag
def keys_in_title(name: str) -> SafeString:
    """The same in the title of the button or link in which this stands, and for screen readers."""
    return format_html('<key-hint name="{}" hidden></key-hint>', SHORTCUTS[name].name)


@register.simple_block_tag
def joined(content: str) -> SafeString:
    """The style sheets and module scripts in it as one of each kind (site/joining.py); with DEBUG as
    they stand there."""
    if settings.DEBUG:
        return mark_safe(content)  # noqa: S308 (rendered by a template)
    sheets, scripts = _SHEET.findall(content), _SCRIPT.findall(content)
    tags = _SCRIPT.sub("", _SHEET.sub("", content)).strip()
    if sheets:
        tags += f'<link rel="stylesheet" href="{_joined(sheets)}.css">'
    if scripts:
        tags += f'<script type="module" src="{_joined(scripts)}.js"></script>'
    return mark_safe(tags)  # noqa: S308


def _joined(found: list[tuple[str, str]]) -> str:
    return f"{found[0][0]}/joined/{','.join(dict.fromkeys(name for _, name in found))}"


@register.simple_block_tag
def empty_state(content: str, picture: str, title: str, url: str = "", link: str = "") -> SafeString:
    """What stands where there is nothing to show; the content says why, or what to do about it."""
    words = mark_safe(content.strip())  # noqa: S308 (rendered by a template)
    return html("fragments/empty.html", picture=picture, title=title, words=words, url=url, link=link)


@register.simple_tag
def damage_banner() -> SafeString:
    """What came of a damaged database, until that was dismissed."""
    return html("settings/damage.html", report=damage.report())


@register.filter
def duration(milliseconds: float | None) -> str:
    """`640 ms`, `4.2 s`, `3 min 5 s`; empty for nothing."""
    if milliseconds is None or milliseconds < 0:
        return ""
    if milliseconds < 1000:
        return gettext("%(count)s ms") % {"count": int(milliseconds)}
    seconds = milliseconds / 1000
    if seconds < 60:
        return gettext("%(count)s s") % {"count": number_format(f"{seconds:.1f}")}
    parts = {"minutes": int(seconds // 60), "seconds": int(seconds % 60)}
    return gettext("%(minutes)s min %(seconds)s s") % parts


@register.filter
def ago(milliseconds: int) -> SafeString:
    """A `<time>` element with the age in words, kept fresh by static/js/time.js."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return format_html(
        '<time datetime="{}" data-ago="{}">{}</time>', moment.isoformat(), milliseconds, _age(milliseconds)
    )


@register.filter
def moment(milliseconds: int) -> str:
    """`27 Nov, 14:02:59 UTC`, where no element may stand that is kept fresh."""
    # Translators: day and time of day, in the letters of Django's filter `date`.
    written = pgettext("format of a date", "d M, H:i:s")
    return f"{date_format(datetime.fromtimestamp(milliseconds / 1000, UTC), written)} UTC"


def _age(milliseconds: int) -> str:
    minutes = (now() - milliseconds) // 60_000
    if minutes >= 24 * 60:
        return gettext("%(count)s d") % {"count": minutes // (24 * 60)}
    if minutes >= 60:
        return gettext("%(count)s h") % {"count": minutes // 60}
    return gettext("%(count)s min") % {"count": minutes} if minutes > 0 else gettext("now")


@register.filter
def tokens(count: int | None) -> str:
    """`950`, `12.3k`, `128k`, `1.2M`."""
    count = count or 0
    if count < 1000:
        return str(count)
    number, unit = (count / 1000, "k") if count < 1_000_000 else (count / 1_000_000, "M")
    tenths = f"{number:.1f}"
    return f"{number_format(tenths.removesuffix('.0'))}{unit}"


@register.filter
def cost(dollars: float | None) -> str:
    """`$0.0042` below a cent, else `$1.23`; empty for nothing spent."""
    if not dollars:
        return ""
    amount = f"{dollars:.4f}" if dollars < 0.01 else f"{dollars:.2f}"
    # Translators: a price in US dollars.
    return gettext("$%(amount)s") % {"amount": number_format(amount)}


@register.filter
def filename(path: str) -> str:
    """The last name of a path, control characters made visible."""
    return visible(PurePosixPath(path).name or path)


@register.filter
def folder(path: str) -> str:
    """What comes before the last name, with its slash; empty at the root of the project."""
    parent = str(PurePosixPath(path).parent)
    return "" if parent in (".", "") else visible(parent.rstrip("/") + "/")


@register.filter
def tilde(path: str) -> str:
    """A path as a person writes it: `~` for the home folder."""
    home = str(Path.home())
    inside = str(path) == home or str(path).startswith(f"{home}/")
    return visible(f"~{str(path).removeprefix(home)}" if inside else str(path))


@register.filter
def plain(text: str) -> str:
    """Text with control characters made visible (escaping is the template's)."""
    return visible(translate(text) if isinstance(text, Sentence) else str(text))


register.filter("translate", translate)


register.filter("grouped", grouped)


@register.filter
def sentence(text: str) -> str:
    """With the full stop that a text of others may lack."""
    return text if text.rstrip().endswith((".", "!", "?", "…")) else f"{text.rstrip()}."


@register.filter
def percent(part: int, whole: int) -> int:
    """A share in whole percent, at most 100."""
    return min(100, round(100 * part / whole)) if whole else 0
