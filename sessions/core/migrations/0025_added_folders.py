from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0024_pin"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="folders",
            field=models.JSONField(default=list),
        ),
    ]
