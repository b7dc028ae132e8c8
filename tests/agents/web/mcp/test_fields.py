"""The form of a server: what is filled in as a change of its entry, and what of an entry is shown."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from agents.config.reader import patched
from agents.config.redaction import HIDDEN
from agents.web.mcp.editing import Wrong, change_of, name_in, shown, split
from agents.web.mcp.listing import Pair, address


def form(**fields: Any) -> QueryDict:
    query = QueryDict(mutable=True)
    for name, value in fields.items():
        query.setlist(name, value if isinstance(value, list) else [value])
    return query


def test_a_command_line_becomes_words() -> None:
    filled = form(kind="local", command="npx -y 'my server' \"a b\"\\ c", timeout="2.5", cwd=" sub ")
    assert change_of(filled, {}) == {
        "type": "local",
        "command": ["npx", "-y", "my server", "a b c"],
        "cwd": "sub",
        "timeout": 2500,
    }


def test_an_entry_goes_through_the_form_unchanged() -> None:
    entry = {
        "type": "local",
        "command": ["a b", "--x"],
        "environment": {"KEY": "s3cret", "REF": "{env:TOKEN}"},
        "timeout": 1500,
        "sampling": True,
        "sandbox": True,
        "enabled": False,
        "another": 1,
    }
    fields = shown("x", entry)
    assert fields.environment == [Pair("KEY", kept=True), Pair("REF", "{env:TOKEN}")]
    assert "s3cret" not in repr(fields)
    filled = form(
        kind=fields.kind,
        command=fields.command,
        environment_name=["KEY", "REF", ""],
        environment_value=["", "{env:TOKEN}", ""],
        timeout=fields.timeout,
        sampling="1",
        sandbox="1",
    )
    change = change_of(filled, entry)
    assert change["environment"] == {"KEY": HIDDEN, "REF": "{env:TOKEN}"}
    change["environment"]["KEY"] = "s3cret"
    assert patched(entry, change) == entry


def test_what_was_taken_out_of_the_form_is_taken_out_of_the_entry() -> None:
    entry = {
        "type": "local",
        "command": ["a"],
        "cwd": "x",
        "environment": {"A": "1", "B": "2"},
        "sampling": True,
        "sandbox": True,
        "timeout": 5,
    }
    one = form(kind="local", command="a", environment_name=["B"], environment_value=["3"])
    left = patched(entry, change_of(one, entry))
    assert left == {"type": "local", "command": ["a"], "environment": {"B": "3"}}
    none = form(kind="local", command="a", environment_name=[""], environment_value=[""])
    assert "environment" not in patched(entry, change_of(none, entry))


def test_a_program_becomes_an_address_and_back() -> None:
    local = {"type": "local", "command": ["a"], "environment": {"A": "1"}}
    remote = patched(local, change_of(form(kind="remote", url="https://x/mcp"), local))
    assert remote == {"type": "remote", "url": "https://x/mcp"}
    assert patched(remote, change_of(form(kind="local", command="a"), remote)) == {
        "type": "local",
        "command": ["a"],
    }


def test_a_sign_in_is_set_kept_and_taken_away() -> None:
    url = {"kind": "remote", "url": "https://x"}
    made = change_of(form(**url, client_id="id", client_secret="s", scope="read"), {})
    assert made["oauth"] == {"clientId": "id", "clientSecret": "s", "scope": "read"}
    entry = {**made, "oauth": {**made["oauth"], "callbackPort": 1}}
    assert shown("x", entry).secret
    kept = change_of(form(**url, client_id="id", scope=""), entry)["oauth"]
    assert kept == {"clientId": "id", "clientSecret": HIDDEN, "scope": None}
    assert patched(entry, change_of(form(**url), entry))["oauth"] == {"callbackPort": 1}
    assert change_of(form(**url), made)["oauth"] is None
    never = change_of(form(**url, no_oauth="1"), entry)
    assert never["oauth"] is False
    assert "oauth" not in patched(never, change_of(form(**url), never))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "local", "command": ""}, "which command"),
        ({"kind": "local", "command": "a 'b"}, "no closing quotation"),
        ({"kind": "remote", "url": " "}, "address"),
        ({"kind": "local", "command": "a", "timeout": "soon"}, "number of seconds"),
        ({"kind": "local", "command": "a", "timeout": "-1"}, "above zero"),
        ({"kind": "local", "command": "a", "timeout": "inf"}, "above zero"),
        (
            {
                "kind": "local",
                "command": "a",
                "environment_name": ["A", " A"],
                "environment_value": ["1", "2"],
            },
            "A is there twice",
        ),
        ({"command": "a", "environment_name": [""], "environment_value": ["1"]}, "no name"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(Wrong, match=words):
        change_of(form(**fields), {})


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "a\u202eb", "a\nb"])
def test_a_name_that_cannot_be(name: str) -> None:
    with pytest.raises(Wrong):
        name_in(form(name=name))


def test_nothing_is_left_to_a_shell() -> None:
    assert split("a $HOME `b` ; c") == ["a", "$HOME", "`b`", ";", "c"]


def test_an_address_is_shown_without_its_secrets() -> None:
    assert address("https://u:p@x.org/mcp?key=abc") == "https://…@x.org/mcp?…"
    assert address("http://[broken") == "…"
    assert shown("x", {"url": "https://u:p@x.org/"}).url == "https://…@x.org/"
