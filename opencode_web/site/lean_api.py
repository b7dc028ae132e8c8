"""ninja, imported without Django's tools for tests, of which it takes a signal that is elsewhere, too: they
bring jinja2 along where it is installed, and are half of ninja's own import and 2 MB.
"""

from __future__ import annotations

from types import ModuleType

from django.core.signals import setting_changed

from opencode_web.site.without import without

_signals = ModuleType("django.test.signals")
_signals.setting_changed = setting_changed  # type: ignore[attr-defined]
with without(hollow=_signals):
    import ninja  # noqa: F401
