from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Node",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("identity", models.CharField(max_length=64)),
                ("address", models.TextField()),
                ("version", models.CharField(max_length=40)),
                ("start", models.BigIntegerField(default=0)),
                ("seen", models.BigIntegerField(default=0)),
                ("load", models.JSONField(default=dict)),
                ("time_joined", models.BigIntegerField()),
            ],
        ),
    ]
