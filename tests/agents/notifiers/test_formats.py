"""What a message becomes in each format, and where it may not be sent."""

from __future__ import annotations

import hmac
import ipaddress
import json
import sys
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agents.notifiers import sending
from agents.notifiers.formats import FORMATS, place, sign
from agents.notifiers.message import LONGEST_TITLE, MOST_LINES, Message, message
from agents.notifiers.sending import NotSent, send
from sessions.core.models import Notifier
from sessions.core.store.notifiers import News, NotifierRefused, Target
from tests.loopback.hooks import HookServer, MailServer

NOTIFIER = Notifier(id="ntf_1", name="Phone", base="https://here.example")


def news(**more: Any) -> News:
    shape: dict[str, Any] = {
        "id": "ses_1 5",
        "kind": "done",
        "session": "ses_1",
        "project": "prj",
        "title": "Mend the *tests*",
        "name": "thing",
        "time": 5,
    }
    return News(**{**shape, **more})


def one(**more: Any) -> Message:
    return message("dlv_1", [news(**more)], NOTIFIER)


def test_a_message_says_what_happened_and_where_and_no_more() -> None:
    made = one()
    assert (made.title, made.text, made.tag) == ("Done", "Mend the *tests* · thing", "ses_1 5")
    assert made.url == "https://here.example/p/prj/s/ses_1"
    assert one(kind="goal", what="blocked").title == "Goal blocked"
    assert one(kind="asks", what="permission", request="per_1").asks


def test_several_are_one_message() -> None:
    many = [news(id=f"{number}", title=f"T{number}", session=f"ses_{number}") for number in range(20)]
    made = message("dlv_1", many, NOTIFIER)
    assert made.title == "20 pieces of news"
    assert len(made.text.splitlines()) == MOST_LINES + 1
    assert made.text.splitlines()[0] == "Done: T0 · thing"
    assert made.text.splitlines()[-1] == "and 8 more"
    assert made.url == "https://here.example/"
    assert len(made.wire["news"]) == 20
    assert message("dlv_1", [news(more=3)], NOTIFIER).title == "4 pieces of news"


def test_it_speaks_the_language_of_its_person() -> None:
    german = Notifier(id="ntf_1", name="Phone", base="https://here.example", language="de")
    assert message("dlv_1", [news(kind="failed")], german).title == "Fehlgeschlagen"


def test_titles_of_others_stay_short_and_on_one_line() -> None:
    made = one(title="a\nb\x1b[31m" + "x" * 500)
    assert "\n" not in made.text
    assert "\x1b" not in made.text
    assert len(made.text) <= LONGEST_TITLE + len(" · thing")


async def test_a_webhook_can_be_told_from_anothers() -> None:
    async with HookServer() as hook:
        key = b"k" * 32
        secret = f"whsec_{b64encode(key).decode()}"
        await send("json", one(), Target(f"{hook.url}/news", secret=secret))
        got = await hook.request()
    id, moment = got.headers["webhook-id"], got.headers["webhook-timestamp"]
    expected = hmac.new(key, f"{id}.{moment}.".encode() + got.body, sha256).digest()
    version, _, signature = got.headers["webhook-signature"].partition(",")
    assert (id, version, b64decode(signature)) == ("dlv_1", "v1", expected)
    body = json.loads(got.body)
    assert body["news"][0]["session"] == {"id": "ses_1", "title": "Mend the *tests*"}
    assert body["news"][0]["kind"] == "done"
    assert sign("not base64 of any kind", "dlv_1", moment, got.body).startswith("v1,")


async def test_ntfy_slack_discord_and_matrix_get_what_they_read() -> None:
    made = one(title="<b>@everyone & *all*")
    async with HookServer() as hook:
        await send("ntfy", made, Target(f"{hook.url}/my-topic", secret="tk_1"))
        ntfy = await hook.body(1)
        await send("slack", made, Target(f"{hook.url}/services/T/B/x"))
        slack = await hook.body(2)
        await send("discord", made, Target(f"{hook.url}/api/webhooks/1/x"))
        discord = await hook.body(3)
        await send("matrix", made, Target(hook.url, to="!room:example.org", secret="mx"))
        matrix, request = await hook.body(4), await hook.request(4)
    assert (ntfy["topic"], ntfy["title"], ntfy["click"]) == ("my-topic", "Done", made.url)
    assert (hook.requests[0].path, hook.requests[0].headers["authorization"]) == ("/", "Bearer tk_1")
    assert "&lt;b&gt;@everyone &amp;" in slack["text"]
    assert "<b>" not in slack["text"]
    assert discord["allowed_mentions"] == {"parse": []}
    assert r"\*all\*" in discord["embeds"][0]["description"]
    assert request.method == "PUT"
    assert request.path == "/_matrix/client/v3/rooms/%21room%3Aexample.org/send/m.room.message/dlv_1"
    assert "&lt;b&gt;" in matrix["formatted_body"]


async def test_mail_comes_by_a_server_that_asks_for_a_password() -> None:
    async with MailServer(password="pw") as server:
        target = Target(f"smtp://me@example.org@{server.address}", "you@example.org, they@example.org", "pw")
        await send("email", one(title="Grüße\nX-Bad: 1"), target)
        (mail,) = server.mails
        with pytest.raises(NotSent, match="refused") as refused:
            await send("email", one(), Target(target.address, target.to, "wrong"))
        assert not refused.value.again
    assert server.recipients == ["you@example.org", "they@example.org"]
    assert (mail["from"], mail["subject"]) == ("me@example.org", "opencode-web: Done")
    assert mail["message-id"].startswith("<dlv_1@")
    assert "x-bad" not in mail
    assert "Grüße X-Bad: 1 · thing" in mail.get_content()


@pytest.mark.parametrize(("answer", "again"), [("451 later", True), ("550 nobody", False)])
async def test_a_mail_server_may_refuse_for_now_or_for_good(answer: str, again: bool) -> None:
    async with MailServer(refuses=answer) as server:
        with pytest.raises(NotSent) as refused:
            await send("email", one(), Target(f"smtp://{server.address}", "you@example.org"))
    assert refused.value.again is again


async def test_no_password_goes_over_a_network_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipaddress.IPv4Address, "is_loopback", False)
    async with MailServer(password="pw") as server:
        target = Target(f"smtp://me@{server.address}", "you@example.org", "pw")
        with pytest.raises(NotSent, match="no encryption"):
            await send("email", one(), target)
        assert server.mails == []


async def test_a_command_gets_json_and_no_shell(tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read()); sys.exit(len(sys.argv) - 2)"
    command = f"{sys.executable} -c {program!r} {out}"
    await send("command", one(), Target(command))
    assert json.loads(out.read_text())["title"] == "Done"
    with pytest.raises(NotSent, match="ended with 2"):
        await send("command", one(), Target(f"{command} $HOME ;"))
    with pytest.raises(NotSent, match="cannot be started"):
        await send("command", one(), Target("/nothing/there"))


async def test_a_command_that_hangs_ends_with_what_it_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    with pytest.raises(NotSent, match="No answer"):
        await send("command", one(), Target("sh -c 'sleep 600 & sleep 600'"))


@pytest.mark.parametrize(
    ("status", "again"), [(500, True), (429, True), (408, True), (404, False), (401, False), (302, False)]
)
async def test_what_may_be_tried_again(status: int, again: bool) -> None:
    async with HookServer() as hook:
        hook.answers(status, retry_after="7", location="http://127.0.0.1:9/")
        with pytest.raises(NotSent, match=str(status)) as refused:
            await send("slack", one(), Target(f"{hook.url}/x"))
    assert (refused.value.again, refused.value.seconds, refused.value.gone) == (again, 7.0, False)
    assert len(hook.requests) == 1


async def test_nothing_is_sent_to_where_clouds_keep_their_secrets() -> None:
    with pytest.raises(NotSent, match="nothing is sent") as refused:
        await send("slack", one(), Target("http://169.254.169.254/latest"))
    assert not refused.value.again


async def test_a_server_of_a_team_sends_to_the_internet_alone(settings: Any) -> None:
    settings.PEOPLE = True
    async with HookServer() as hook:
        with pytest.raises(NotSent, match="nothing is sent"):
            await send("slack", one(), Target(f"{hook.url}/x"))
        with pytest.raises(NotSent, match="nothing is sent"):
            await send("email", one(), Target("smtp://127.0.0.1:2525", "you@example.org"))
        with pytest.raises(NotSent, match="no commands"):
            await send("command", one(), Target("true"))
        assert hook.requests == []


@pytest.mark.parametrize(
    ("format", "target"),
    [
        ("ntfy", Target("https://ntfy.sh/")),
        ("ntfy", Target("ftp://ntfy.sh/topic")),
        ("slack", Target("javascript:alert(1)")),
        ("slack", Target("https://user:pass@hooks.example/x")),
        ("slack", Target("http://[::1/x")),
        ("matrix", Target("https://matrix.example", to="#alias:example")),
        ("email", Target("smtps://mail.example")),
        ("email", Target("https://mail.example", to="you@example.org")),
        ("email", Target("smtps://me:pw@mail.example", to="you@example.org")),
        ("command", Target("")),
        ("command", Target("unclosed '")),
        ("push", Target("https://push.example/x", secret="{}")),
        ("push", Target("https://push.example/x", secret='{"p256dh": "AAAA", "auth": "AAAA"}')),
    ],
)
def test_what_is_no_target_is_refused(format: str, target: Target) -> None:
    with pytest.raises(NotifierRefused):
        FORMATS[format].check(target)


def test_what_is_shown_of_a_place_is_no_secret() -> None:
    assert place("slack", Target("https://hooks.slack.com/services/T0/B0/secret")) == "hooks.slack.com"
    assert place("email", Target("smtps://me@mail.example:465", to="a@b.c")) == "a@b.c · mail.example:465"
    assert place("command", Target("notify --token secret")) == "notify"
