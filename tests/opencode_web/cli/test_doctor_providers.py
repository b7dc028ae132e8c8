"""`doctor --providers`: which proxies and authorities are in force, and whether the provider answers."""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

import pytest

from opencode_web.cli.commands import doctor
from opencode_web.cli.terminal import Stop
from tests.loopback.openai import OpenAIServer
from tests.server import model_config

ARGUMENTS = argparse.Namespace(providers=True)


def configured(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(model_config(url)))


async def test_it_tries_the_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:secret@proxy.example:8080")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with OpenAIServer([]) as server:
        configured(monkeypatch, server.base_url)
        await asyncio.to_thread(doctor.run, ARGUMENTS, tmp_path)
    said = capsys.readouterr().out
    assert "https by proxy.example:8080" in said
    assert "not for 127.0.0.1" in said
    assert "secret" not in said
    assert "Model: fake/fake, by chat completions." in said
    assert "fake answers and lists" in said


async def test_one_that_cannot_be_reached_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configured(monkeypatch, "http://127.0.0.1:9/v1")
    with pytest.raises(Stop, match="Could not connect"):
        await asyncio.to_thread(doctor.run, ARGUMENTS, tmp_path)
