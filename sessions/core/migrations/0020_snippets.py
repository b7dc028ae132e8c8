from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0019_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="Snippet",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("text", models.TextField()),
                ("time_updated", models.BigIntegerField()),
            ],
        ),
    ]
