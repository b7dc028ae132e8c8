"""`python -m` this logs so many events, each in a transaction that goes on for a moment; `read` instead of a
number says the ids that it hears of by following a cursor, a line each, until its input ends."""

from __future__ import annotations

import os
import random
import select
import sys

import django


def main(what: str) -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
    django.setup()

    from django.db import connection, transaction

    from sessions.core.db import in_db_sync
    from sessions.core.models import Event
    from sessions.core.store import events

    def write() -> None:
        with transaction.atomic():
            events.record("session.idle", {"sessionID": "ses_1"}, session="ses_1")
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(%s)", [random.random() / 200])

    if what != "read":
        for _ in range(int(what)):
            in_db_sync(write)
        return
    cursor, more = 0, True
    while more:
        more = not select.select([sys.stdin], [], [], 0)[0]
        for event in in_db_sync(lambda at: list(Event.objects.filter(id__gt=at).order_by("id")), cursor):
            cursor = event.pk
            sys.stdout.write(f"{cursor}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
