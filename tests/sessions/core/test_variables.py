"""All variables of the environment stand in one table, and the page of them is what it gives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.core import variables
from tests.server import ROOT
from tests.sessions.core.configuration import PAGE, page

NAME = re.compile(r"OPENCODE_[A-Z_]+|REDIS_URL")
TABLE = ROOT / "sessions/core/variables.py"


def literals(file: Path) -> Iterator[str]:
    """The texts of a source that are values, not words about it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_a_name_is_written_in_the_table_only() -> None:
    sources = [
        file for room in ("opencode_web", "agents", "sessions") for file in (ROOT / room).rglob("*.py")
    ]
    found = {
        (str(file.relative_to(ROOT)), text) for file in sources if file != TABLE for text in literals(file)
    }
    assert sorted(pair for pair in found if NAME.fullmatch(pair[1])) == []


def test_each_is_there_once() -> None:
    names = [variable.name for variable in variables.every()]
    assert len(names) == len(set(names))
    declared = [each for each in vars(variables).values() if isinstance(each, variables.Variable)]
    assert {each.name for each in declared} == set(names)


def test_the_page_is_what_the_table_gives() -> None:
    assert PAGE.read_text() == page(), "python -m tests.sessions.core.configuration writes it"


@pytest.mark.parametrize("given", ["many", "-1", "nan", "inf", "1e999"])
def test_a_number_that_is_none_is_told(given: str) -> None:
    with pytest.raises(ValueError, match="OPENCODE_WEB_STORE_GB is no number of gigabytes"):
        variables.STORE_GB.number({"OPENCODE_WEB_STORE_GB": given})


def test_what_opencode_reads_is_ours_or_said_to_be_not() -> None:
    names = [name for group in variables.NOT_READ.values() for name in group]
    assert len(names) == len(set(names))
    assert not {variable.name for variable in variables.every()} & set(names)


@pytest.mark.parametrize(
    ("given", "read"), [("5", 5), ("", 32000), ("0", 32000), ("-1", 32000), ("many", 32000), ("1.5", 32000)]
)
def test_a_whole_number_is_one_above_nothing(given: str, read: int) -> None:
    assert variables.OUTPUT_TOKENS.whole({variables.OUTPUT_TOKENS.name: given}) == read


def test_what_is_empty_is_not_set() -> None:
    assert variables.STORE_GB.number({"OPENCODE_WEB_STORE_GB": ""}) == 5
    assert variables.USERNAME.read({}) == "opencode"
    assert variables.DISABLE_SHARE.is_true({"OPENCODE_DISABLE_SHARE": "True"})
    assert not variables.DISABLE_SHARE.is_true({"OPENCODE_DISABLE_SHARE": "0"})
