from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0029_prompt_actor"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="reviewmark", name="one_mark_a_content"),
        migrations.AddField(
            model_name="reviewmark",
            name="actor",
            field=models.CharField(blank=True, default="", max_length=128),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name="reviewmark",
            constraint=models.UniqueConstraint(
                fields=["session", "kind", "key", "actor"], name="one_mark_a_content"
            ),
        ),
        migrations.CreateModel(
            name="Spending",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("actor", models.CharField(max_length=128)),
                ("day", models.CharField(max_length=10)),
                ("cost", models.FloatField(default=0.0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("actor", "day"), name="one_spending_a_day")],
            },
        ),
        migrations.CreateModel(
            name="ProviderKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("person", models.CharField(blank=True, max_length=128)),
                ("project", models.CharField(blank=True, max_length=40)),
                ("provider", models.CharField(max_length=300)),
                ("sealed", models.TextField()),
                ("ending", models.CharField(blank=True, max_length=4)),
                ("time_created", models.BigIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("person", "project", "provider"), name="one_key_a_provider"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Payment",
            fields=[
                (
                    "message",
                    models.OneToOneField(
                        on_delete=models.deletion.CASCADE,
                        primary_key=True,
                        related_name="payment",
                        serialize=False,
                        to="opencode_sessions.message",
                    ),
                ),
                ("whose", models.CharField(max_length=160)),
            ],
        ),
    ]
