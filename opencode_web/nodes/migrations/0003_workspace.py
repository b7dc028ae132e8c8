from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_nodes", "0002_identity"),
    ]

    operations = [
        migrations.AddField(model_name="node", name="draining", field=models.BooleanField(default=False)),
        migrations.CreateModel(
            name="Workspace",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("node", models.CharField(max_length=40)),
                ("project", models.CharField(max_length=40)),
                ("path", models.TextField()),
                ("name", models.TextField(blank=True)),
                ("epoch", models.BigIntegerField(default=1)),
                ("closed", models.BooleanField(default=False)),
                ("successor", models.CharField(blank=True, max_length=40)),
                ("heir", models.CharField(blank=True, max_length=40)),
                ("time_closed", models.BigIntegerField(default=0)),
                ("time_parked", models.BigIntegerField(default=0)),
                ("parked", models.JSONField(default=dict)),
                ("problem", models.TextField(blank=True)),
                ("moving", models.CharField(blank=True, max_length=8)),
            ],
        ),
        migrations.AddConstraint(
            model_name="workspace",
            constraint=models.UniqueConstraint(fields=("node", "project"), name="one_workspace_a_project"),
        ),
    ]
