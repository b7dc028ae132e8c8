"""The table: median and best of the runs for each server, and how they compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.stats import median

RECORDED = Path(__file__).with_name("recorded.json")
ALLOWED = 1.2


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
    return max(values) if rises(label) else min(values)


def rises(label: str) -> bool:
    """Whether more of it is better."""
    return label.endswith("/s)")


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


def ratios(results: Results) -> dict[str, float]:
    """The first target's median by the second's, of each figure that both have."""
    found = {}
    for label, by_target in results.values.items():
        medians = [median(by_target[target]) for target in results.targets if target in by_target]
        if len(medians) == 2 and all(medians):
            found[label] = round(medians[0] / medians[1], 4)
    return found


def record(results: Results) -> None:
    """Ratios of this run into `recorded.json`; those of figures that were not measured stay."""
    kept = {**recorded(), **ratios(results)}
    RECORDED.write_text(json.dumps(dict(sorted(kept.items())), indent=2) + "\n")


def recorded() -> dict[str, float]:
    return json.loads(RECORDED.read_text()) if RECORDED.exists() else {}


def lost(results: Results, before: Mapping[str, float]) -> list[str]:
    """A line for each figure whose ratio is worse than the recorded one by more than a fifth."""
    found = []
    for label, ratio in ratios(results).items():
        if (was := before.get(label)) is None:
            continue
        worse = was / ratio if rises(label) else ratio / was
        if worse > ALLOWED:
            found.append(f"{label}: {ratio:.3g} times OpenCode, {was:.3g} when it was recorded")
    return found


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
