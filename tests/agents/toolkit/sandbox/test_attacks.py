"""What a program of the agent tries against the person: none of it succeeds confined, all of it does else."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox import probe
from agents.toolkit.sandbox.terms import Confinement
from tests.agents.toolkit.sandbox.scene import Scene

ATTACKS: list[dict[str, str]] = json.loads(Path(__file__).with_name("attacks.json").read_text())
pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")


OPEN = [Rule("network", "*", "allow"), Rule("private_address", "*", "allow")]
"""Whoever may reach all of the network reaches nothing of this machine."""


@pytest.mark.parametrize("attack", ATTACKS, ids=[attack["what"] for attack in ATTACKS])
async def test_it_fails_confined_and_succeeds_else(place: Scene, attack: dict[str, str]) -> None:
    modes: tuple[Confinement, ...] = ("offline", "project")
    for mode in modes:
        place.lay_out()
        said, _ = await place.run(attack["run"], mode, rules=OPEN)
        await asyncio.sleep(0)
        assert not place.shows(attack["sign"], said), said
    if attack.get("needs") == "root" and os.getuid():
        return
    place.lay_out()
    said, _ = await place.run(attack["run"], "off")
    for _ in range(100):  # who counts calls is a thread of its own
        if place.shows(attack["sign"], said):
            break
        await asyncio.sleep(0.02)
    assert place.shows(attack["sign"], said), f"this proves nothing: {said}"
