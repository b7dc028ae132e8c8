import django.db.models.deletion
from django.db import migrations, models


def fill(apps, _schema_editor):  # type: ignore[no-untyped-def]
    """Until now all of it was in the session's own project."""
    session = apps.get_model("opencode_sessions", "Session").objects.filter(pk=models.OuterRef("session_id"))
    staged = apps.get_model("opencode_sessions", "StagedFile").objects
    staged.update(project_id=models.Subquery(session.values("project_id")[:1]))


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0027_session_folder"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="stagedfile", name="one_staged_file_a_path"),
        migrations.AddField(
            model_name="stagedfile",
            name="project",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="staged",
                to="opencode_sessions.project",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="stagedfile",
            name="project",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="staged",
                to="opencode_sessions.project",
            ),
        ),
        migrations.AddConstraint(
            model_name="stagedfile",
            constraint=models.UniqueConstraint(
                fields=("session", "project", "path"), name="one_staged_file_a_path"
            ),
        ),
    ]
