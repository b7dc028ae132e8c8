"""The table: median and best of the runs for each server, and how they compare."""

from __future__ import annotations

import json
import platform
from dataclasses import dataclass, field
from pathlib import Path

from bench.stats import median

FOLDER = Path(__file__).parent


@dataclass(slots=True)
class Results:
    """`values[label][target]` has one value per run; `failures` are sentences."""

    targets: list[str]
    runs: int
    values: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def add(self, target: str, figures: dict[str, float]) -> None:
        for label, value in figures.items():
            self.values.setdefault(label, {}).setdefault(target, []).append(value)


def best(label: str, values: list[float]) -> float:
    """The highest rate, the lowest of anything else."""
    return max(values) if label.endswith("/s)") else min(values)


def table(results: Results) -> str:
    """Markdown, padded so that it reads as plain text too; the ratio is the first target / the second."""
    head = ["", *(f"{target} median (best)" for target in results.targets)]
    comparable = len(results.targets) == 2
    rows = [[*head, "ratio"] if comparable else head]
    for label, by_target in results.values.items():
        found = [by_target.get(target, []) for target in results.targets]
        cells = [_cell(label, values) for values in found]
        rows.append([label, *cells, _ratio(*found)] if comparable else [label, *cells])
    return "\n".join([*_aligned(rows), *(f"\nFailed: {failure}" for failure in results.failures)])


def write(results: Results) -> None:
    """`results.md` and `results.json` beside this file."""
    machine = (
        f"{results.runs} runs, {platform.system()} {platform.machine()}, Python {platform.python_version()}"
    )
    (FOLDER / "results.md").write_text(f"# Bench\n\n{machine}.\n\n{table(results)}\n")
    values = {"runs": results.runs, "values": results.values, "failures": results.failures}
    (FOLDER / "results.json").write_text(json.dumps(values, indent=2) + "\n")


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = []
    for row in [rows[0], rule, *rows[1:]]:
        cells = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _cell(label: str, values: list[float]) -> str:
    if not values:
        return "–"
    return f"{_number(median(values))} ({_number(best(label, values))})"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(first: list[float], second: list[float]) -> str:
    return f"{median(first) / median(second):.2f}" if first and second and median(second) else "–"
