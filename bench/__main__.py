"""`python -m bench [--only NAME …] [--runs K] [--quick] [--large] [--no-opencode] [--record | --gate]`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import httpx
from playwright.async_api import Error as BrowserError

from bench import report
from bench.browser import NoBrowser
from bench.conversations import NotImported
from bench.lab import Lab
from bench.listening import NotRunning
from bench.measures import MEASURES
from bench.npm import NotInstalled
from bench.report import Results
from bench.targets import OURS, Target, install_opencode, opencode
from bench.turns import TurnFailed

FILES = 2000
MEASURE_SECONDS = 600
FAILURES = (
    NotInstalled,
    NotRunning,
    NoBrowser,
    NotImported,
    TurnFailed,
    BrowserError,
    TimeoutError,
    ValueError,
    httpx.HTTPError,
    ExceptionGroup,
)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES), metavar="NAME")
    parser.add_argument("--runs", type=int, default=3, metavar="K", help="how often each is measured (3)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the repetitions, one run")
    parser.add_argument("--large", action="store_true", help="search 50,000 files too")
    parser.add_argument("--no-ours", action="store_true", help="measure OpenCode alone")
    parser.add_argument("--no-opencode", action="store_true", help="measure ours alone")
    parser.add_argument("--opencode", type=Path, metavar="BINARY", help="an OpenCode installed elsewhere")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--record", action="store_true", help="keep the ratios in bench/recorded.json")
    kept.add_argument("--gate", action="store_true", help="fail where a ratio is a fifth worse than that")
    return parser.parse_args()


def targets(options: argparse.Namespace) -> list[Target]:
    found = [] if options.no_ours else [OURS]
    if not options.no_opencode:
        try:
            found.append(opencode(options.opencode or install_opencode(os.environ)))
        except NotInstalled as error:
            say(f"SKIPPED OpenCode: {error}")
    return found


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def prepared(labs: list[Lab], results: Results) -> list[Lab]:
    """The labs whose server runs at all."""
    running = []
    for lab in labs:
        say(f"preparing {lab.target.name}")
        try:
            await lab.prepare(FILES)
            running.append(lab)
        except (NotRunning, httpx.HTTPError) as error:
            results.failures.append(f"{lab.target.name} does not run: {error}")
    return running


async def measure(lab: Lab, name: str, results: Results) -> None:
    """One measure of one server; a failure is a line in the report, not the end of the bench."""
    try:
        async with asyncio.timeout(MEASURE_SECONDS):
            results.add(lab.target.name, await MEASURES[name](lab))
    except FAILURES as error:
        results.failures.append(f"{name} of {lab.target.name}: {type(error).__name__}: {error}")
        say(results.failures[-1])


async def bench(options: argparse.Namespace, chosen: list[Target]) -> Results:
    """Servers take turns within each run, so that a busy machine is busy for all of them."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    runs = 1 if options.quick else options.runs
    results = Results([target.name for target in chosen], runs)
    with tempfile.TemporaryDirectory(prefix="opencode-web-bench-", ignore_cleanup_errors=True) as scratch:
        every = [Lab(each, Path(scratch), quick=options.quick, large=options.large) for each in chosen]
        labs = await prepared(every, results)
        for run in range(runs if labs else 0):
            for name in options.only:
                say(f"run {run + 1} of {runs}: {name}")
                for lab in labs:
                    await measure(lab, name, results)
    return results


def main() -> int:
    """0 when every figure could be measured, 1 when some could not or a ratio is lost, 130 when stopped."""
    options = arguments()
    try:
        results = asyncio.run(bench(options, targets(options)))
    except (asyncio.CancelledError, KeyboardInterrupt):
        say("stopped; every process that was started has been ended")
        return 130
    print(report.table(results))
    if options.quick:
        say("quick: fewer repetitions than the labels say, so these figures are rough")
    if options.record:
        report.record(results)
    lost = report.lost(results, report.recorded()) if options.gate else []
    for line in lost:
        print(f"LOST {line}")
    return 1 if results.failures or lost else 0


if __name__ == "__main__":
    sys.exit(main())
