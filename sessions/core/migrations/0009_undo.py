from __future__ import annotations

from django.db import migrations, models

_NARROWEST = {0o100644: 0o100600, 0o100755: 0o100700}


def narrow(apps: object, schema_editor: object) -> None:
    """What commands changed has git's two modes so far: which permissions a file had is not known, so a file
    that comes back is its owner's alone."""
    rows = apps.get_model("opencode_sessions", "FileChange").objects  # type: ignore[attr-defined]
    commands = rows.filter(origin__in=("command", "formatter"), operation=None)
    for column in ("mode_before", "mode_after"):
        for mode, narrowest in _NARROWEST.items():
            commands.filter(**{column: mode}).update(**{column: narrowest})


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0008_order_of_use"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="keep_ignored",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.RunPython(narrow, migrations.RunPython.noop),
    ]
