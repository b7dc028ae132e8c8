"""The panel and the undo dialog as a browser gets them."""

from __future__ import annotations

from urllib.parse import quote

from django.test import AsyncClient

from sessions.changes.operations.lock import project_lock
from sessions.core.models import Session
from sessions.core.models.ledger import pack_path
from sessions.rendering.diffs.table import FIRST_ROWS
from tests.sessions.changes.review.world import World, fresh

HOSTILE = "<script>alert(1)</script>\"'\n&.py"


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"


async def text_of(client: AsyncClient, url: str) -> str:
    answer = await client.get(url)
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_panel_shows_scope_counts_and_word_marks(world: World, async_client: AsyncClient) -> None:
    world.write("kept.txt", "the old line of words\n")
    session = await world.session()
    first = await world.turn(session, {"kept.txt": "the new line of words\n", "a.py": "x = 'a'\n"})
    await world.turn(session, {"a.py": None, "b.py": "def f() -> None: ...\n"})
    page = await text_of(async_client, f"{base(session)}/review")
    assert 'data-file="kept.txt"' in page
    assert 'data-file="b.py"' in page
    assert 'data-file="a.py"' not in page, "made and removed again"
    assert '<span class="k">def</span>' in page
    assert "the <mark>new</mark> line of words" in page
    turn = await text_of(async_client, f"{base(session)}/review?scope=turn")
    assert 'data-file="kept.txt"' not in turn
    assert 'data-state="D"' in turn
    named = await text_of(async_client, f"{base(session)}/review?scope=turn&message={first}&view=split")
    assert '<table class="diff split' in named
    assert 'data-file="b.py"' not in named


async def test_names_and_contents_are_text(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {HOSTILE: "<img src=x onerror=alert(1)>\x1b[31m\u202e\n"})
    for url in ("/review", "/review?view=split", f"/undo/{prompt}"):
        page = await text_of(async_client, base(session) + url)
        assert "<script>" not in page
        assert "<img" not in page
        assert "\u202e" not in page
        assert "\x1b" not in page
        assert "&lt;script&gt;" in page
    key = quote(pack_path(HOSTILE), safe="")
    assert "&lt;" in await text_of(async_client, f"{base(session)}/review/file?path={key}")


async def test_a_file_is_found_by_its_bytes(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await world.turn(session, {"odd \udcff.txt": "found\n"})
    key = quote(pack_path("odd \udcff.txt"), safe="")
    assert "found" in await text_of(async_client, f"{base(session)}/review/file?path={key}")
    for path in ("../../etc/passwd", f"{key}&step=1", f"{key}&step=x"):
        assert (await async_client.get(f"{base(session)}/review/file?path={path}")).status_code == 404


async def test_a_huge_diff_comes_in_pieces(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await world.turn(session, {"huge.txt": "".join(f"{n}\n" for n in range(3000)), "small.txt": "s\n"})
    page = await text_of(async_client, f"{base(session)}/review")
    assert page.count('class="add"') == 1, "only the small file is open"
    url = f"{base(session)}/review/file?path=huge.txt"
    body = await text_of(async_client, url)
    assert body.count('<tr class="add">') == FIRST_ROWS
    assert "path=huge.txt" in body
    piece = await text_of(async_client, f"{url}&rows={FIRST_ROWS}-3000")
    assert piece.count('<tr class="add">') == 3000 - FIRST_ROWS
    assert piece.startswith("<tbody")


async def test_images_of_the_scope_are_served_and_nothing_else(
    world: World, async_client: AsyncClient
) -> None:
    svg = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'></svg>"
    session, other = await world.session(), await world.session()
    await world.turn(session, {"logo.svg": svg, "code.py": "x = 1\n"})
    await world.turn(other, {"other.gif": b"GIF89a\x05\0\x07\0"})
    objects = world.tracker.objects

    def image(content: bytes, path: str) -> str:
        return f"{base(session)}/review/image/{objects.put(content)}?path={path}&scope=session"

    answer = await async_client.get(image(svg, "logo.svg"))
    assert (answer.status_code, answer["Content-Type"], answer.content) == (200, "image/svg+xml", svg)
    assert answer["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert answer["X-Content-Type-Options"] == "nosniff"
    for content, path in (
        (b"GIF89a\x05\0\x07\0", "other.gif"),
        (b"GIF89a\x05\0\x07\0", "logo.svg"),
        (svg, "code.py"),
        (b"x = 1\n", "code.py"),
    ):
        assert (await async_client.get(image(content, path))).status_code == 404


async def test_undo_dialog_says_what_happens_and_undo_does_it(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"kept.txt": "one\nAGENT\nthree\n", "new.txt": "n\n"})
    world.write("kept.txt", "one\nMINE\nthree\n")
    before = world.state()
    dialog = await text_of(async_client, f"{base(session)}/undo/{prompt}")
    assert "Will be removed: it did not exist before." in dialog
    assert "Is left alone: the same lines have been changed since." in dialog
    assert "MINE" in dialog
    assert "two" in dialog
    assert world.state() == before
    done = await async_client.post(f"{base(session)}/undo/{prompt}")
    assert "1 file changed. 1 file left alone because of conflicts" in done.content.decode()
    assert not (world.root / "new.txt").exists()
    redone = await async_client.post(f"{base(session)}/redo")
    assert "Redone: 1 file changed" in redone.content.decode()
    assert world.state() == before
    again = await async_client.post(f"{base(session)}/redo")
    assert "nothing to redo" in again.content.decode()
    assert (await fresh(session)).revert is None


async def test_a_refusal_is_shown_beside_the_buttons(world: World, async_client: AsyncClient) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"new.txt": "n\n"})
    with project_lock(world.project.id):
        answer = await async_client.post(f"{base(session)}/undo/{prompt}")
    assert answer.status_code == 422
    assert answer["HX-Retarget"] == "#undo-problem"
    assert "Another undo" in answer.content.decode()
    assert (world.root / "new.txt").exists()


async def test_only_what_belongs_together_is_found(world: World, async_client: AsyncClient) -> None:
    session, other = await world.session(), await world.session()
    foreign = await world.turn(other, {"a.txt": "a\n"})
    for url in (f"{base(session)}/undo/{foreign}", f"/p/unknown/s/{session.id}/review"):
        assert (await async_client.get(url)).status_code == 404
    assert (await async_client.post(f"{base(session)}/undo/{foreign}")).status_code == 404
    assert (await async_client.get(f"{base(session)}/redo")).status_code == 405
    assert (world.root / "a.txt").exists()
