"""A round of each fault of machines; more of them by `python -m bench.faults`."""

from __future__ import annotations

import pytest

from bench.faults import KINDS, Round, refusal, run


@pytest.mark.long
@pytest.mark.proc
async def test_turns_outlive_their_machine_s_faults() -> None:
    if reason := refusal():
        pytest.skip(reason)
    told: list[Round] = []
    await run(len(KINDS), KINDS, told.append)
    assert [done for done in told if done.faults] == []
    gone = ("kill", "pause", "cable-8", "cable-30")
    assert {done.ended for done in told if done.kind in gone} == {"gone"}
    assert {done.ended for done in told if done.kind not in gone} == {"in order"}
