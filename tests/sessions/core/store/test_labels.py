"""Labels of sessions: made, given, taken, gone with the last session that has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.store import labels
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def names(session_id: str) -> list[str]:
    found = await in_db(labels.by_session, [session_id])
    return [label.name for label in found.get(session_id, ())]


async def test_they_are_given_and_taken_and_unused_ones_go(tmp_path: Path) -> None:
    one, two = await Talk.begin(tmp_path, "one"), await Talk.begin(tmp_path, "two")
    both = [one.session.id, two.session.id]
    await in_db(labels.make, " bug  fix ", "red")
    await in_db(labels.choose, both, give=["bug fix", "unknown"])
    await in_db(labels.make, "later", "grey")
    await in_db(labels.choose, [one.session.id], give=["later"])
    assert await names(one.session.id) == ["bug fix", "later"]
    assert await in_db(labels.common, both) == {"bug fix"}
    listed = await in_db(session_store.listing, one.project, label="later")
    assert [row.id for row in listed] == [one.session.id]
    await in_db(labels.choose, both, take=["bug fix"])
    assert await names(two.session.id) == []
    assert await in_db(labels.common, both) == set()
    assert [label.name for label in await in_db(labels.every)] == ["later"]
    await in_db(labels.make, "later", "blue")
    assert [label.colour for label in await in_db(labels.of_project, one.project.id)] == ["blue"]


@pytest.mark.parametrize(("name", "colour"), [("", "red"), ("x" * 41, "red"), ("a\0b", "red"), ("a", "pink")])
async def test_what_is_no_label_is_refused(name: str, colour: str) -> None:
    with pytest.raises(labels.Refused):
        await in_db(labels.make, name, colour)
