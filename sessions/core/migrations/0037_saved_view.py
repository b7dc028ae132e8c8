from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0036_knowledge"),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("query", models.CharField(max_length=500, primary_key=True, serialize=False)),
                ("time_created", models.BigIntegerField()),
            ],
        ),
    ]
