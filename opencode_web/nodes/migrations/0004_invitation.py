from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_nodes", "0003_workspace"),
    ]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("time_expires", models.BigIntegerField()),
            ],
        ),
    ]
