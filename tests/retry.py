"""A plugin of pytest (`-p tests.retry`): what failed is tried once more at the end, with nothing beside it.

So a fault is told from a busy machine. A test that passes then is named UNSTEADY: it, or the program, has a
defect all the same. The last lines of a run name each of both kinds, with the line of the assertion.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
from _pytest._code.code import ExceptionChainRepr
from _pytest.terminal import TerminalReporter

ENVIRON = dict(os.environ)
"""As the run was started with: `tests/conftest.py` changes it afterwards."""
MOST = 30
"""Where more fail, the cause is one they share, and trying each again takes long and tells nothing."""
UNSTEADY = "unsteady"

Report = pytest.TestReport | pytest.CollectReport


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Retry(), "retry of what failed")


class Retry:
    @pytest.hookimpl(
        wrapper=True, trylast=True
    )  # after the workers have ended, before the summary is written
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Generator[None]:
        yield
        terminal = session.config.pluginmanager.get_plugin("terminalreporter")
        if exitstatus != pytest.ExitCode.TESTS_FAILED or not isinstance(terminal, TerminalReporter):
            return
        failed = {report.nodeid for report in _reports(terminal, "failed", "error")}
        if len(failed) > MOST:
            terminal.write_line(f"{len(failed)} failed: too many to try each of them once more.")
            return
        passed = {test for test in sorted(failed) if _passes_alone(test, session.config.rootpath, terminal)}
        for kind in ("failed", "error"):
            reports = terminal.stats.pop(kind, [])
            if still := [report for report in reports if report.nodeid not in passed]:
                terminal.stats[kind] = still
            if unsteady := [report for report in reports if report.nodeid in passed]:
                terminal.stats.setdefault(UNSTEADY, []).extend(unsteady)
        if passed == failed:
            session.exitstatus = pytest.ExitCode.OK

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        for report in _reports(terminalreporter, UNSTEADY):
            terminalreporter.write_sep("_", f"{report.nodeid} (passed alone)")
            report.toterminal(terminalreporter._tw)
        terminalreporter.write_line("")
        for kind, word in (("failed", "FAILED"), ("error", "ERROR"), (UNSTEADY, "UNSTEADY")):
            for report in _reports(terminalreporter, kind):
                terminalreporter.write_line(f"{word} {report.nodeid} - {_assertion(report)}")


def _reports(terminal: TerminalReporter, *kinds: str) -> Iterable[Report]:
    return [report for kind in kinds for report in terminal.stats.get(kind, [])]


def _passes_alone(test: str, root: Path, terminal: TerminalReporter) -> bool:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", test]
    done = subprocess.run(
        command, cwd=root, env=ENVIRON, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    terminal.write_line(f"Alone, {test} {'fails, too' if done.returncode else 'passes'}.")
    return done.returncode == 0


def _assertion(report: Report) -> str:
    """Where the test failed, the place nearest to the fault that is one of ours, and what was raised."""
    if not isinstance(report.longrepr, ExceptionChainRepr):
        return (str(report.longrepr).strip().splitlines() or ["no more is known"])[-1]
    crash = report.longrepr.reprcrash
    entries = report.longrepr.reprtraceback.reprentries
    places = [place for entry in entries if (place := getattr(entry, "reprfileloc", None))]
    ours = [place for place in places if place.path.startswith("tests/")] or places
    where = f"{ours[-1].path}:{ours[-1].lineno}: " if ours else ""
    return where + (crash.message.splitlines()[0] if crash else "")
