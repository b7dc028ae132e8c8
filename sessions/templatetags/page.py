"""Helpers of the templates (built in: no `load` needed)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions.ids import now
from sessions.rendering.html import html
from sessions.rendering.text import visible
from sessions.upkeep import damage

register = template.Library()

_AGO = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))


@register.simple_tag
def icon(name: str) -> SafeString:
    """The drawing `templates/icons/<name>.html`; hidden from screen readers."""
    return html(f"icons/{name}.html")


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
        return f"{int(milliseconds)} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"


@register.filter
def ago(milliseconds: int) -> SafeString:
    """A `<time>` element with the age in words, kept fresh by static/js/time.js."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return format_html(
        '<time datetime="{}" data-ago="{}">{}</time>', moment.isoformat(), milliseconds, _age(milliseconds)
    )


def _age(milliseconds: int) -> str:
    age = now() - milliseconds
    return next((f"{age // unit} {name}" for unit, name in _AGO if age >= unit), "now")


@register.filter
def tokens(count: int | None) -> str:
    """`950`, `12.3k`, `128k`, `1.2M`."""
    count = count or 0
    if count < 1000:
        return str(count)
    number, unit = (count / 1000, "k") if count < 1_000_000 else (count / 1_000_000, "M")
    return f"{f'{number:.1f}'.removesuffix('.0')}{unit}"


@register.filter
def cost(dollars: float | None) -> str:
    """`$0.0042` below a cent, else `$1.23`; empty for nothing spent."""
    if not dollars:
        return ""
    return f"${dollars:.4f}" if dollars < 0.01 else f"${dollars:.2f}"


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
    return visible(str(text))


@register.filter
def percent(part: int, whole: int) -> int:
    """A share in whole percent, at most 100."""
    return min(100, round(100 * part / whole)) if whole else 0
