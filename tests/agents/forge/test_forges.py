"""Each forge as its interface is documented: lists, items, comments, checks, and what acts."""

from __future__ import annotations

import pytest

from agents.forge.forge import Forge
from agents.forge.hosts import Host
from agents.forge.opening import forge_at, try_token
from agents.forge.shapes import ForgeError
from tests.loopback.forges import PATH, TOKEN, ForgeServer, Issue, Pull, Said


async def test_lists_have_what_is_open_or_closed(forge: Forge, server: ForgeServer) -> None:
    issues = await forge.items("issue")
    assert [(item.number, item.title, item.author, item.state) for item in issues.items] == [
        (1, "It fails", "bob", "open")
    ]
    assert issues.items[0].labels == ("bug",)
    assert issues.items[0].time > 0
    assert not issues.more
    assert [item.number for item in (await forge.items("issue", closed=True)).items] == [2]
    assert [item.number for item in (await forge.items("pull")).items] == [3]
    server.pulls[3].merged = True
    assert [item.state for item in (await forge.items("pull", closed=True)).items] == ["merged"]


async def test_words_find_and_long_lists_go_on(forge: Forge, server: ForgeServer) -> None:
    server.add(*(Issue(number, f"Number {number}") for number in range(10, 55)))
    first = await forge.items("issue")
    assert first.more
    rest = await forge.items("issue", page=2)
    assert len(first.items) + len(rest.items) >= 45
    assert {item.number for item in (*first.items, *rest.items)} >= set(range(10, 55))
    assert [item.number for item in (await forge.items("issue", words="it fails")).items] == [1]
    assert [item.number for item in (await forge.items("pull", words="mend")).items] == [3]


async def test_an_item_has_its_body_without_what_nobody_would_see(forge: Forge) -> None:
    item = await forge.item("issue", 1)
    assert item.body.split() == ["It", "<b>fails</b>.", "See", "`x`."]
    assert item.url.startswith("http")
    with pytest.raises(ForgeError, match="no such thing"):
        await forge.item("issue", 99)


async def test_all_comments_come_with_those_of_reviews(forge: Forge, server: ForgeServer) -> None:
    said = await forge.comments(await forge.item("issue", 1))
    assert [(one.author, one.body, one.path) for one in said] == [("eve", "Here, too", "")]
    server.issues[1].comments += [Said(number, "eve", f"{number}") for number in range(100, 260)]
    assert len(await forge.comments(await forge.item("issue", 1))) == 161
    of_pull = await forge.comments(await forge.item("pull", 3))
    line = next(one for one in of_pull if one.path)
    assert (line.path, line.line, line.body) == ("src/x.py", 12, "Why?")
    if server.kind != "gitlab":  # whose reviews are comments like any other
        assert [(one.verdict, one.body) for one in of_pull if not one.path] == [
            ("asks for changes", "Not yet.")
        ]


async def test_checks_have_outcomes_and_the_end_of_a_log(forge: Forge, server: ForgeServer) -> None:
    checks = {check.name: check for check in await forge.checks(await forge.item("pull", 3))}
    assert (checks["lint"].outcome, checks["tests"].outcome) == ("passed", "failed")
    if server.kind == "forgejo":
        with pytest.raises(ForgeError, match="no logs"):
            await forge.log(checks["tests"])
        return
    log = await forge.log(checks["tests"])
    assert log.endswith("AssertionError\n")
    assert len(log) == 12_000
    if server.kind == "github":  # it lies elsewhere, and no token goes along
        assert server.asked[-1].startswith("/logs/")
        assert server.tokens[-2:] == [TOKEN, ""]


async def test_the_pull_request_of_a_branch_is_found(forge: Forge, server: ForgeServer) -> None:
    assert await forge.pull_of("nothing", PATH) is None
    found = await forge.pull_of("topic", PATH)
    assert found is not None
    assert (found.number, found.head, found.base) == (3, "topic", "main")
    server.pulls[3].merged = True
    done = await forge.pull_of("topic", PATH)
    assert done is not None
    assert done.state == "merged"


async def test_a_pull_request_is_opened_as_a_draft(forge: Forge, server: ForgeServer) -> None:
    made = await forge.create(title="New", body="Why", head="mine", base="main", source=PATH, draft=True)
    assert server.pulls[made.number].draft
    assert server.pulls[made.number].head == "mine"
    assert server.pulls[made.number].title.endswith("New")
    plain = await forge.create(title="New", body="Why", head="mine", base="main", source=PATH, draft=False)
    assert not server.pulls[plain.number].draft
    assert len(server.acts) == 2


async def test_answers_go_where_they_belong(forge: Forge, server: ForgeServer) -> None:
    pull = await forge.item("pull", 3)
    await forge.answer(await forge.item("issue", 1), "Thanks")
    assert server.issues[1].comments[-1].body == "Thanks"
    thread = next(one.thread for one in await forge.comments(pull) if one.path)
    await forge.answer(pull, "Because", thread)
    assert server.pulls[3].comments[-1].body == "Because"
    assert bool(thread) == (server.kind != "forgejo")
    assert not thread or "5" in server.acts[-1].path


async def test_a_merge_takes_the_commit_that_was_seen(forge: Forge, server: ForgeServer) -> None:
    settings = await forge.settings()
    assert settings.branch == "main"
    assert settings.methods[:2] == ("merge", "squash")
    pull = await forge.item("pull", 3)
    server.pulls[3].commit = "0ther" * 8
    with pytest.raises(ForgeError, match=r"odified|SHA|did not do it"):
        await forge.merge(pull, "squash")
    assert not server.pulls[3].merged
    await forge.merge(await forge.item("pull", 3), "squash")
    assert server.pulls[3].merged
    assert len(server.acts) == 2


async def test_what_a_forge_refuses_is_said_in_words(forge: Forge, server: ForgeServer) -> None:
    server.refusal = (422, "No commits between main and topic")
    with pytest.raises(ForgeError, match="No commits between main and topic"):
        await forge.create(title="New", body="", head="mine", base="main", source=PATH, draft=False)
    server.refusal = (502, "")
    with pytest.raises(ForgeError, match="error of its own"):
        await forge.create(title="New", body="", head="mine", base="main", source=PATH, draft=False)
    assert len(server.acts) == 2, "what acts is sent once"
    server.limited = True
    with pytest.raises(ForgeError, match="no more requests for now"):
        await forge.items("issue")


async def test_a_token_is_tried(server: ForgeServer) -> None:
    assert await try_token(Host(server.kind, server.url, TOKEN, "kept")) == "me"
    with pytest.raises(ForgeError, match="does not accept the token in GITHUB_TOKEN"):
        await try_token(Host(server.kind, server.url, "wrong", "environment", "GITHUB_TOKEN"))


async def test_without_a_token_what_is_public_is_read_and_nothing_done(server: ForgeServer) -> None:
    async with forge_at(Host(server.kind, server.url), PATH) as forge:
        item = await forge.item("issue", 1)
        with pytest.raises(ForgeError, match="wants a token"):
            await forge.answer(item, "Hello")
    assert set(server.tokens) == {""}


async def test_a_forge_that_is_not_there_is_said() -> None:
    async with ForgeServer() as gone:
        url = gone.url
    async with forge_at(Host("github", url, TOKEN), PATH) as forge:
        with pytest.raises(ForgeError, match="could not be reached"):
            await forge.items("issue")


def test_github_has_a_host_for_its_interface() -> None:
    assert forge_at(Host("github", "https://github.com"), PATH).rest.api == "https://api.github.com"
    company = forge_at(Host("github", "https://git.acme.example"), PATH).rest.api
    assert company == "https://git.acme.example/api/v3"
    with pytest.raises(ForgeError, match="no repository"):
        forge_at(Host("github", "https://github.com"), "a/b/c")


async def test_odd_answers_break_nothing(forge: Forge, server: ForgeServer) -> None:
    server.add(Pull(8, "\u202eodd\x07", head="", commit=""))
    assert (await forge.item("pull", 8)).title == "\u202eodd\x07"
    assert [item.number for item in (await forge.items("pull")).items] == [3, 8] or server.kind == "gitlab"
