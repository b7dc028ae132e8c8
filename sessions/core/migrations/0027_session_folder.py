import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0026_programs"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="time_filed",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name="SessionFolder",
            fields=[
                ("id", models.CharField(max_length=32, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=40)),
                (
                    "colour",
                    models.CharField(
                        choices=[
                            ("red", "Red"),
                            ("amber", "Amber"),
                            ("green", "Green"),
                            ("blue", "Blue"),
                            ("violet", "Violet"),
                            ("grey", "Grey"),
                        ],
                        max_length=8,
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("folded", models.BooleanField(default=False)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="session_folders",
                        to="opencode_sessions.project",
                    ),
                ),
            ],
            options={
                "ordering": ["position", "id"],
            },
        ),
        migrations.AddField(
            model_name="session",
            name="session_folder",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="sessions",
                to="opencode_sessions.sessionfolder",
            ),
        ),
    ]
