"""The language of templates: arguments, shell commands, mentions."""

from __future__ import annotations

import subprocess

import pytest

from agents.toolkit.template import MissingArgument, Shell, expand, hints, mentions, words


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", []),
        ("  one   two ", ["one", "two"]),
        ("\"a b\" 'c d' e", ["a b", "c d", "e"]),
        ("--name='x y' z", ["--name=x y", "z"]),
        ("''", [""]),
        ("the user's page for Tom's app", ["the", "user's", "page", "for", "Tom's", "app"]),
        ('a "unbalanced quote', ["a", '"unbalanced', "quote"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_words_are_split_as_by_a_shell_and_never_refused(arguments: str, expected: list[str]) -> None:
    assert words(arguments) == expected


@pytest.mark.parametrize(
    ("template", "arguments", "expected"),
    [
        ("Do $ARGUMENTS now", " a  'b c' ", "Do a  'b c' now"),
        ("Do $ARGUMENTS now", "", "Do  now"),
        ("$2 then $1", "a b", "b then a"),
        ("$1 then $2", "a b c 'd e'", "a then b c d e"),
        ("$1 and again $1", "a b", "a b and again a b"),
        ("$1 of $ARGUMENTS", "'a b'", "a b of 'a b'"),
        ("plain\n", "x y", "plain\n\nx y"),
        ("plain", "", "plain"),
        ("costs \\$5, \\$ARGUMENTS", "x", "costs $5, $ARGUMENTS\n\nx"),
        ("$ARGUMENTSX and $100", "x", "$ARGUMENTSX and $100\n\nx"),
    ],
)
def test_arguments_take_their_places(template: str, arguments: str, expected: str) -> None:
    assert "".join(map(str, expand(template, arguments))) == expected


@pytest.mark.parametrize(("template", "arguments"), [("$1 $2", "one"), ("!`echo $2`", "one"), ("$3", "a b")])
def test_a_missing_argument_is_named(template: str, arguments: str) -> None:
    with pytest.raises(MissingArgument, match=r"Argument \$[23] is missing: [12] words? given"):
        expand(template, arguments)


def test_hints_are_the_numbers_in_order_and_then_all_arguments() -> None:
    assert hints("$2 $ARGUMENTS $10 $1 !`head -$4 | awk '{print $7}'` \\$6") == [
        *("$1", "$2", "$4", "$10"),
        "$ARGUMENTS",
    ]
    assert hints("none") == []


def test_shell_commands_come_from_the_template_only() -> None:
    pieces = expand("Look: !`git log` and $ARGUMENTS", "!`rm -rf /` $(x)")
    assert pieces == ["Look: ", Shell("git log"), " and !`rm -rf /` $(x)"]


@pytest.mark.parametrize(
    "template",
    [
        "printf %s $1",
        'printf %s "$1"',
        'printf %s "$(printf %s $1)"',
        'printf "%s" "it\'s">/dev/null; printf %s $1',
    ],
)
@pytest.mark.parametrize(
    "argument", ["plain", "a; touch hacked", "$(touch hacked)", "`touch hacked`", '" && x "', "it's"]
)
def test_an_argument_is_data_to_the_shell(template: str, argument: str) -> None:
    (piece,) = expand(f"!`{template}` $2", f"{_quoted(argument)} x")[:1]
    assert isinstance(piece, Shell)
    done = subprocess.run(["bash", "-c", piece.command], capture_output=True, text=True, check=True)
    assert done.stdout == argument


def _quoted(argument: str) -> str:
    return f'"{argument}"' if '"' not in argument else f"'{argument}'"


def test_nothing_is_replaced_between_single_quotes_of_a_shell_command() -> None:
    assert expand("!`ps | awk '{print $2}' | grep $1`", "x;y") == [
        Shell("ps | awk '{print $2}' | grep 'x;y'"),
    ]


def test_mentions_are_names_and_no_addresses_or_code() -> None:
    text = "See @a.txt, (@src/b.py) and @../up or @~/n. Mail a@b.c, `@code`, @general! @a.txt again, @pkg@1.0"
    assert mentions(text) == ["a.txt", "src/b.py", "../up", "~/n", "general", "pkg@1.0"]
