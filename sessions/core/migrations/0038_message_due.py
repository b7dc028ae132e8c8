from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0037_saved_view"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="message", name="message_by_document"),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["document", "time_created", "session"],
                condition=models.Q(document__isnull=False),
                name="message_by_document",
            ),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(fields=["id"], condition=models.Q(document=None), name="message_due"),
        ),
    ]
