from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0017_by_hand"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChosenKeys",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("keys", models.JSONField(default=list)),
            ],
        ),
    ]
