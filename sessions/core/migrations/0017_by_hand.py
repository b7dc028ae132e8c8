from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0016_preset"),
    ]

    operations = [
        migrations.AlterField(
            model_name="operation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("revert", "Undo of a part of the conversation"),
                    ("unrevert", "Redo of a part of the conversation"),
                    ("undo", "Undo"),
                    ("redo", "Redo"),
                    ("keep", "Kept staged edits"),
                    ("drop", "Dropped staged edits"),
                    ("restage", "Staged again"),
                    ("edit", "Edit by hand"),
                ],
                max_length=16,
            ),
        ),
    ]
