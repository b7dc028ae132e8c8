from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0021_pinned"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedSearch",
            fields=[
                ("text", models.CharField(max_length=500, primary_key=True, serialize=False)),
                ("time_created", models.BigIntegerField()),
            ],
        ),
    ]
