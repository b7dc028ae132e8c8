from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0022_saved_search"),
    ]

    operations = [
        migrations.CreateModel(
            name="Label",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                (
                    "colour",
                    models.CharField(
                        choices=[
                            ("red", "Red"),
                            ("amber", "Amber"),
                            ("green", "Green"),
                            ("blue", "Blue"),
                            ("violet", "Violet"),
                            ("grey", "Grey"),
                        ],
                        max_length=8,
                    ),
                ),
                ("sessions", models.ManyToManyField(related_name="labels", to="opencode_sessions.session")),
            ],
            options={
                "ordering": ["name"],
            },
        ),
    ]
