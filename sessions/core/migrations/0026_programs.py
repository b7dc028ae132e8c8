from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0025_added_folders"),
    ]

    operations = [
        migrations.CreateModel(
            name="OwnProgram",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("command", models.TextField()),
            ],
        ),
    ]
