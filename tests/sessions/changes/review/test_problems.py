"""Problems in diffs: marks beside lines, counts of what came and went, nothing where nothing is known."""

from __future__ import annotations

import re

from django.test import AsyncClient

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import problems
from sessions.core.store.problems import Finding, Problem
from tests.sessions.changes.operations.stage import staged
from tests.sessions.changes.review.world import World

BEFORE = "import os\nimport re\n\n\ndef f():\n    return os.name\n"
AFTER = "import os\nimport re\n\n\ndef f():\n    return missing\n"


def problem(line: int, message: str, severity: int = 1) -> Problem:
    return Problem(line, 0, line, 2, severity, message, "F821", "Ruff")


async def known(world: World, path: str, content: str, *found: Problem, server: str = "ruff") -> None:
    finding = Finding(world.project.id, path, object_id(content.encode()), server, found)
    await in_db(problems.put, [finding])


async def page_of(client: AsyncClient, session: Session, query: str = "") -> str:
    answer = await client.get(f"/p/{session.project_id}/s/{session.id}/review{query}")
    return str(answer.content.decode())


def deltas(page: str) -> list[str]:
    """The words of the counts, the title's first."""
    found = re.findall(r'<span class="delta"[^>]*>(.*?)</span>(?=</h2>|<span class="file-|\s*</h2>)', page)
    return [re.sub(r"<[^>]*>", "", text).replace("\N{MINUS SIGN}", "-") for text in found]


def under(page: str) -> list[tuple[str, bool, str]]:
    """What stands under lines: id, whether it is open, text."""
    rows = re.findall(r'<tr class="note problems" id="([^"]*)"( hidden)?>(.*?)</tr>', page)
    return [(id, not hidden, re.sub(r"<[^>]*>", " ", text)) for id, hidden, text in rows]


async def test_an_error_that_came_stands_at_its_line_and_is_counted(
    world: World, async_client: AsyncClient
) -> None:
    world.write("a.py", BEFORE)
    session = await world.session()
    unused = problem(1, "re is unused", 2)
    await world.turn(session, {"a.py": AFTER})
    await known(world, "a.py", AFTER, unused, problem(5, "Undefined <b>missing</b>"))
    page = await page_of(async_client, session)
    assert deltas(page) == [], "what was wrong before is not known"
    ((_, opened, text),) = [one for one in under(page) if one[1]]
    assert opened
    assert "Undefined &lt;b&gt;missing&lt;/b&gt;" in text
    assert 'data-fix="a.py:6:1: error: Undefined &lt;b&gt;missing&lt;/b&gt; (Ruff F821)"' in page

    await known(world, "a.py", BEFORE, unused, problem(0, "os is odd", 2))
    page = await page_of(async_client, session)
    assert deltas(page) == ["+1 error, -1 warning"] * 2, "the file's, and the title's"
    assert page.count('<span class="label">new</span>') == 1
    marks = re.findall(r'class="problem-mark" data-severity="(\d)" data-line="(\d+)"', page)
    assert marks == [("1", "6")], "line 2 is not shown, as nothing changed near it"
    whole = await page_of(async_client, session, "/file?path=a.py&gap=1-3")
    assert 'data-severity="2" data-line="2"' in whole
    assert "2 unchanged lines, 1 with a problem" in page
    split = await page_of(async_client, session, "?view=split")
    assert split.count('class="problem-mark"') == 1
    split = await page_of(async_client, session, "/file?path=a.py&gap=1-3&view=split")
    assert split.count('class="problem-mark"') == 1, "an unchanged line stands on both sides"
    assert '<td colspan="4"><ul class="problem-notes">' in split


async def test_a_fix_is_marked_at_the_line_that_is_gone(world: World, async_client: AsyncClient) -> None:
    world.write("a.py", AFTER)
    session = await world.session()
    await world.turn(session, {"a.py": BEFORE})
    await known(world, "a.py", AFTER, problem(5, "Undefined missing"))
    await known(world, "a.py", BEFORE)
    page = await page_of(async_client, session)
    assert deltas(page) == ["-1 error"] * 2
    ((id, opened, text),) = under(page)
    assert id.endswith("-old-6")
    assert not opened
    assert "was here" in text
    assert "data-fix" not in page


async def test_each_scope_has_its_own_count(world: World, async_client: AsyncClient) -> None:
    world.write("a.py", "a\n")
    session = await world.session()
    await world.turn(session, {"a.py": "b\n", "new.py": "n\n"})
    await world.turn(session, {"a.py": "c\n"})
    for content, count in (("a\n", 0), ("b\n", 2), ("c\n", 1)):
        await known(world, "a.py", content, *(problem(0, f"{content.strip()}{n}") for n in range(count)))
    await known(world, "new.py", "n\n", problem(0, "wrong"))
    assert deltas(await page_of(async_client, session, "?scope=turn"))[0] == "+1 -2 errors"
    assert deltas(await page_of(async_client, session))[0] == "+2 errors", "a new file had none before"


async def test_another_server_or_an_undone_file_says_nothing(world: World, async_client: AsyncClient) -> None:
    world.write("a.py", "a\n")
    session = await world.session()
    await world.turn(session, {"a.py": "b\n"})
    await known(world, "a.py", "a\n", server="pyright")
    await known(world, "a.py", "b\n", problem(0, "wrong"))
    page = await page_of(async_client, session)
    assert deltas(page) == []
    assert 'class="label">new<' not in page
    assert page.count("problem-mark") == 1

    await known(world, "a.py", "a\n")
    assert deltas(await page_of(async_client, session)) == [], "one server has not seen both"
    await known(world, "a.py", "b\n", server="pyright")
    assert deltas(await page_of(async_client, session)) == ["+1 error"] * 2
    world.write("a.py", "a\n")
    assert deltas(await page_of(async_client, session)) == []


async def test_edits_that_are_held_back_have_marks_and_counts(
    world: World, async_client: AsyncClient
) -> None:
    world.write("a.py", BEFORE)
    session = await world.session()
    await staged(world, session, "a.py", AFTER)
    await known(world, "a.py", BEFORE, problem(0, "os is odd", 2))
    await known(world, "a.py", AFTER, problem(5, "Undefined missing"))
    page = await page_of(async_client, session, "?scope=staged")
    assert deltas(page) == ["+1 error, -1 warning"] * 2
    assert [(opened, "Undefined missing" in text) for _, opened, text in under(page) if opened] == [
        (True, True)
    ]

    await staged(world, session, "a.py", BEFORE.replace("re", "sys"))
    assert deltas(await page_of(async_client, session, "?scope=staged")) == [], "nobody has seen that yet"


async def test_the_version_of_a_file_follows_its_problems(world: World, async_client: AsyncClient) -> None:
    """The panel keeps what has the version it knows."""
    session = await world.session()
    await world.turn(session, {"a.py": "b\n", "b.py": "b\n"})

    async def versions() -> list[str]:
        return re.findall(r'data-version="(\w+)"', await page_of(async_client, session))

    first = await versions()
    assert first == await versions()
    await known(world, "a.py", "b\n", problem(0, "wrong"))
    second = await versions()
    assert second[0] != first[0]
    assert second[1] == first[1]
