from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_nodes", "0001_initial"),
    ]

    operations = [
        migrations.RemoveField(model_name="node", name="identity"),
    ]
