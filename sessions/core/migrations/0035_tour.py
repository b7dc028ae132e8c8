import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0034_notifiers"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tour",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scope", models.TextField()),
                ("stops", models.JSONField(default=list)),
                ("hunks", models.JSONField(default=list)),
                ("model", models.TextField()),
                ("actor", models.CharField(blank=True, max_length=128)),
                ("time_created", models.BigIntegerField()),
                (
                    "session",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tours",
                        to="opencode_sessions.session",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="tour",
            constraint=models.UniqueConstraint(fields=("session", "scope"), name="one_tour_a_scope"),
        ),
    ]
