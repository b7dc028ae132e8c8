from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0012_kinds"),
    ]

    operations = [
        migrations.AddField(
            model_name="admission",
            name="no_reply",
            field=models.BooleanField(default=False),
        ),
    ]
