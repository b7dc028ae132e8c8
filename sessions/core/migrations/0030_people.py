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
    ]
