from django.db import migrations, models


def fill(apps, _schema_editor):  # type: ignore[no-untyped-def]
    apps.get_model("opencode_sessions", "Session").objects.update(used=models.F("time_updated"))


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0007_resumption"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="used",
            field=models.BigIntegerField(default=0, db_index=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.RemoveIndex(model_name="session", name="session_by_project"),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["project", "-used"], name="session_by_use"),
        ),
    ]
