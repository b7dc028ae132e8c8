from collections import defaultdict

from django.db import migrations, models
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce

TYPES = [
    "session.created",
    "session.updated",
    "session.deleted",
    "message.updated",
    "message.removed",
    "message.part.updated",
    "message.part.removed",
]
BATCH = 2000


def count(apps, _schema_editor):  # type: ignore[no-untyped-def]
    """What the log has of a session counts after all that the session has: of how often that changed before
    nothing is known."""
    sessions, messages, parts, events = (
        apps.get_model("opencode_sessions", name).objects for name in ("Session", "Message", "Part", "Event")
    )
    having = {"session_id": OuterRef("id")}
    message_count, part_count = (
        kind.filter(**having).order_by().values("session_id").annotate(rows=Count("id")).values("rows")
        for kind in (messages, parts)
    )
    sessions.update(next_number=1 + Coalesce(Subquery(message_count), 0) + Coalesce(Subquery(part_count), 0))
    following = defaultdict(int, sessions.values_list("id", "next_number"))
    waiting = []
    for row in events.filter(type__in=TYPES).exclude(session_id="").order_by("id").iterator(BATCH):
        row.number = following[row.session_id]
        following[row.session_id] += 1
        waiting.append(row)
        if len(waiting) == BATCH:
            events.bulk_update(waiting, ["number"])
            waiting.clear()
    events.bulk_update(waiting, ["number"])


class Migration(migrations.Migration):
    dependencies = [
        ("opencode_sessions", "0013_no_reply"),
    ]

    operations = [
        migrations.AddField(
            model_name="event",
            name="number",
            field=models.BigIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="session",
            name="next_number",
            field=models.BigIntegerField(default=0),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
