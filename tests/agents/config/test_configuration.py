"""What clients have heard of a configuration by the time that somebody has it."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from agents.config import configuration, loader


def test_whoever_reads_a_new_configuration_does_so_after_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = [SimpleNamespace(config="before"), SimpleNamespace(config="after")]
    monkeypatch.setattr(loader, "load", lambda _: versions[0])
    configuration.load(tmp_path)
    del versions[0]
    order: list[str] = []

    def read() -> None:
        configuration.load(tmp_path)
        order.append("read")

    other = threading.Thread(target=read)

    def told(_: Path | None) -> None:
        other.start()
        other.join(0.2)
        order.append("told")

    monkeypatch.setattr(configuration, "configured", told)
    configuration.load(tmp_path)
    other.join()
    assert order == ["told", "read"]
