import django.db.models.deletion
from django.db import migrations, models

import sessions.core.models.ledger


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0023_label"),
    ]

    operations = [
        migrations.CreateModel(
            name="Pin",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("prompt", "Prompt"),
                            ("answer", "Answer"),
                            ("file", "File"),
                            ("note", "Note"),
                        ],
                        max_length=8,
                    ),
                ),
                ("path", sessions.core.models.ledger.PathField(blank=True)),
                ("title", models.TextField()),
                ("text", models.TextField()),
                ("size", models.IntegerField()),
                ("time_created", models.BigIntegerField()),
                (
                    "message",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pins",
                        to="opencode_sessions.message",
                    ),
                ),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="pins",
                        to="opencode_sessions.session",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
    ]
