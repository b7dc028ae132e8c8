from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0015_visited"),
    ]

    operations = [
        migrations.AddField(
            model_name="session",
            name="preset",
            field=models.CharField(blank=True, max_length=16),
        ),
    ]
