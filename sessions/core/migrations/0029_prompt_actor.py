from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0028_staged_root"),
    ]

    operations = [
        migrations.AddField(
            model_name="admission",
            name="actor",
            field=models.CharField(blank=True, default="", max_length=128),
            preserve_default=False,
        ),
    ]
