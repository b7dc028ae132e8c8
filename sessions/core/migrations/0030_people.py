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
    ]
