from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0014_numbers"),
    ]

    operations = [
        migrations.AddField(
            model_name="contextepoch",
            name="visited",
            field=models.JSONField(default=list),
        ),
    ]
