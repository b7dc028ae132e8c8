from django.db import migrations, models

from sessions.core.index import fts


def create(_apps, schema_editor):  # type: ignore[no-untyped-def]
    if fts.is_possible():
        fts.create()


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0018_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="document",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["document", "time_created", "session"], name="message_by_document"),
        ),
        migrations.RunPython(create, migrations.RunPython.noop),
    ]
