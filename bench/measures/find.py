"""Searching the project: a text that is there once, and a file by its name."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

from bench import project
from bench.lab import Lab
from bench.stats import median
from bench.turns import TurnFailed


async def measure(lab: Lab) -> dict[str, float]:
    figures = await _find(lab, lab.project, "2k")
    if lab.large:
        figures |= await _find(lab, lab.large_project(), "50k")
    return figures


async def _find(lab: Lab, folder: Path, size: str) -> dict[str, float]:
    texts, files, alone = [], [], []
    async with lab.server(folder=folder) as server:
        for _ in range(lab.count(30)):
            began = time.perf_counter()
            hits = await server.client.find(f"{project.NEEDLE_NAME} = True")
            between = time.perf_counter()
            paths = await server.client.find_files(project.NEEDLE_NAME)
            texts.append((between - began) * 1000)
            files.append((time.perf_counter() - between) * 1000)
        for _ in range(lab.count(30)):
            alone.append(await _ripgrep(folder))
    if len(hits) != 1 or not any(project.NEEDLE_NAME in path for path in paths):
        raise TurnFailed(f"found {len(hits)} lines and {len(paths)} files")
    return {
        f"/find, {size} files p50 (ms)": median(texts),
        f"/find/file, {size} files p50 (ms)": median(files),
        f"ripgrep alone, {size} files p50 (ms)": median(alone),
    }


async def _ripgrep(folder: Path) -> float:
    """Milliseconds of the same search by ripgrep itself, with nothing around it."""
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).with_name("rg"),
        "--json",
        f"{project.NEEDLE_NAME} = True",
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )
    await process.wait()
    return (time.perf_counter() - began) * 1000
