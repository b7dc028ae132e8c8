import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0035_tour"),
    ]

    operations = [
        migrations.CreateModel(
            name="ProjectAction",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=40)),
                ("command", models.TextField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="actions",
                        to="opencode_sessions.project",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.CreateModel(
            name="ProjectNote",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[("note", "Note"), ("plan", "Plan"), ("todo", "Todo")], max_length=4
                    ),
                ),
                ("title", models.TextField()),
                ("text", models.TextField(blank=True)),
                ("done", models.BooleanField(default=False)),
                ("actor", models.CharField(blank=True, max_length=128)),
                ("time_created", models.BigIntegerField()),
                ("time_updated", models.BigIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notes",
                        to="opencode_sessions.project",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
            },
        ),
        migrations.AddField(
            model_name="pin",
            name="note",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="pins",
                to="opencode_sessions.projectnote",
            ),
        ),
        migrations.AddConstraint(
            model_name="projectaction",
            constraint=models.UniqueConstraint(fields=("project", "name"), name="one_action_a_name"),
        ),
    ]
