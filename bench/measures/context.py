"""What a look at an unchanged System Context costs each step; OpenCode has no way to be asked for it."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

from bench.lab import Lab
from bench.stats import median, percentile
from bench.targets import OURS, ROOT, isolated
from bench.turns import TurnFailed

START = "import django; django.setup(); from bench.reconcile import main; main()"
INSTRUCTIONS = "# Conventions\n\n" + "- One of many rules for this project.\n" * 100


async def measure(lab: Lab) -> dict[str, float]:
    if lab.target is not OURS:
        return {}
    instructions = lab.project / "AGENTS.md"
    instructions.write_text(INSTRUCTIONS)
    try:
        taken = await _samples(lab.project, lab.folder / "context-home", lab.count(1000))
    finally:
        instructions.unlink()
    return {
        "context reconcile, unchanged p50 (ms)": median(taken),
        "context reconcile, unchanged p95 (ms)": percentile(taken, 95),
    }


async def _samples(folder: Path, home: Path, count: int) -> list[float]:
    command = [sys.executable, "-c", START, str(folder), str(count)]
    ours = {"DJANGO_SETTINGS_MODULE": "opencode_web.settings", "OPENCODE_WEB_NO_DISCOVERY": "1"}
    environ = {**isolated(home), **ours, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environ, stdout=PIPE, stderr=PIPE)
    output, errors = await process.communicate()
    if process.returncode:
        raise TurnFailed(f"the reconcile process ended: {errors.decode()[-500:]}")
    taken: list[float] = json.loads(output)
    return taken
