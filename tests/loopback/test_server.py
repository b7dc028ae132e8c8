from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from tests.loopback.fixtures import Start, loopback
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Cut, StreamError, ToolUse, Turn, Wait, load

__all__ = ["loopback"]

PROMPT = {"model": "fake", "messages": [{"role": "user", "content": "hi"}]}


def test_in_a_thread_driven_from_a_test_without_a_loop(loopback: Start) -> None:
    server = loopback(OpenAIServer([Turn(text=["a", Wait("go"), "b"])]))
    answers: list[httpx.Response] = []
    url = f"{server.base_url}/chat/completions"
    asking = threading.Thread(target=lambda: answers.append(httpx.post(url, json=PROMPT)))
    asking.start()
    server.run(server.gate("go").reached())
    assert server.run(server.wait_for_request()).body == PROMPT
    assert answers == []
    server.gate("go").open()
    asking.join(10)
    assert answers[0].text.endswith("data: [DONE]\n\n")


def test_as_a_process_driven_over_http(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": ["a", {"gate": "go"}, "b"]}]))
    command = [sys.executable, "-m", "tests.loopback.openai", "--port", "0", "--script", str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base = process.stdout.readline().removeprefix("listening on ").strip()
        root = base.removesuffix("/v1")
        with httpx.stream("POST", f"{base}/chat/completions", json=PROMPT) as answer:
            assert httpx.get(f"{root}/_requests").json()["requests"][0]["body"] == PROMPT
            assert httpx.post(f"{root}/_gate/go").status_code == 200
            text = answer.read().decode()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
    assert '"content":"a"' in text
    assert '"content":"b"' in text


def test_a_script_file_says_which_key_is_wrong(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"text": "ok", "tols": []}]')
    with pytest.raises(ValidationError, match="tols"):
        load(script)


def test_faults_of_a_script_file_are_told_apart_by_kind(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(
        '[{"fault": {"kind": "cut", "after": 2}}, {"fault": {"kind": "error", "after": 2}},'
        ' {"tools": [{"name": "read", "arguments": "{"}]}]'
    )
    assert load(script) == [
        Turn(fault=Cut(after=2)),
        Turn(fault=StreamError(after=2)),
        Turn(tools=[ToolUse("read", "{")]),
    ]
