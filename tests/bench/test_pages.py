"""Each row of the bench that takes a browser gets its figure: small numbers, ours alone, no bound on any."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.lab import Lab
from bench.measures import MEASURES
from bench.targets import OURS

pytestmark = [pytest.mark.e2e, pytest.mark.long]

FILES = 100


@pytest.mark.parametrize("name", [name for name in MEASURES if name.startswith("page-")])
async def test_each_row_has_a_figure(name: str, tmp_path: Path, chromium_path: str) -> None:
    lab = Lab(OURS, tmp_path, quick=True)
    await lab.prepare(FILES)
    figures = await MEASURES[name](lab)
    assert figures
    assert all(figure >= 0 for figure in figures.values())
