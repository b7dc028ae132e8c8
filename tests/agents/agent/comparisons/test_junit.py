"""Reports of tests are counted wherever a check wrote them, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.agent.comparisons.junit import LARGEST, counted, reports

SUITES = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="all">
  <testsuite name="one" tests="3">
    <testcase classname="a" name="passes" time="0.1"><system-out>fine</system-out></testcase>
    <testcase classname="a" name="fails"><failure message="no">trace</failure></testcase>
    <testcase classname="a" name="breaks"><error message="no"/><skipped/></testcase>
  </testsuite>
  <testsuite name="two"><testsuite name="within">
    <testcase name="later"><skipped message="not here"/></testcase>
    <testcase name="twice"/>
  </testsuite></testsuite>
</testsuites>
"""
COUNTED = {"passed": 2, "failed": 2, "skipped": 1}


def test_the_tests_of_all_suites_are_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(SUITES)
    assert counted(tmp_path, {}) == COUNTED
    report.write_text("<testsuite/>")
    assert counted(tmp_path, {}) == {"passed": 0, "failed": 0, "skipped": 0}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml at all <testsuite",
        "<project><testsuite><testcase/></testsuite></project>",
        "<testsuite><testcase></testsuite>",
        '<!DOCTYPE testsuite [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"/></testsuite>',
        '<!DOCTYPE testsuite SYSTEM "http://elsewhere.example/x"><testsuite/>',
    ],
)
def test_what_is_no_report_is_passed_over(tmp_path: Path, text: str) -> None:
    report = tmp_path / "report.xml"
    report.write_text(text)
    assert counted(tmp_path, {}) == {}


def test_one_that_is_too_large_is_passed_over(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    with report.open("w") as file:
        file.write("<testsuite><testcase/>")
        file.truncate(LARGEST + 10_000)
    assert counted(tmp_path, {}) == {}


def test_only_what_was_written_anew_counts(tmp_path: Path) -> None:
    folder = tmp_path / "build" / "reports"
    folder.mkdir(parents=True)
    (folder / "again.xml").write_text("<testsuite/>")
    (tmp_path / "old.xml").write_text(SUITES)
    hidden = tmp_path / "node_modules"
    hidden.mkdir()
    before = reports(tmp_path)
    assert counted(tmp_path, before) == {}
    (folder / "again.xml").write_text(SUITES)
    (folder / "new.xml").write_text("<testsuite><testcase/></testsuite>")
    (hidden / "theirs.xml").write_text(SUITES)
    (tmp_path / "link.xml").symlink_to(folder / "new.xml")
    assert counted(tmp_path, before) == {**COUNTED, "passed": 3}
