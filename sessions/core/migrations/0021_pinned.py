from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0020_snippets"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="time_pinned",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(
                condition=models.Q(("time_pinned__isnull", False)), fields=["project"], name="session_pinned"
            ),
        ),
    ]
