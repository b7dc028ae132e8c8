from __future__ import annotations

import asyncio
import socket
import threading

import pytest

from agents.llm.local import SWITCH, Endpoint, Local, discover
from tests.agents.llm.local_servers import listing, serving

PATIENT = 10.0


async def test_what_answers_is_a_provider_and_the_rest_is_left_out() -> None:
    with (
        serving({"/v1/models": listing("llama3", "nomic-embed-text")}) as (ollama, _),
        serving({"/v1/models": listing("qwen", max_model_len=32_768)}) as (vllm, _),
        serving({"/v1/models": b"<html>"}) as (page, _),
        serving({"/v1/models": {"data": [{"name": 1}, 7]}}) as (odd, _),
        serving({}) as (none, _),
        socket.create_server(("127.0.0.1", 0)) as closed,
    ):
        nobody = closed.getsockname()[1]
        closed.close()
        found = await discover(
            {
                "ollama": Endpoint("Ollama", ollama),
                "vllm": Endpoint("vLLM", vllm),
                "page": Endpoint("Page", page),
                "odd": Endpoint("Odd", odd),
                "none": Endpoint("None", none),
                "nobody": Endpoint("Nobody", f"http://127.0.0.1:{nobody}"),
            },
            PATIENT,
        )

    assert found == {
        "ollama": {
            "name": "Ollama",
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{ollama}/v1"},
            "models": {"llama3": {"name": "llama3"}},
        },
        "vllm": {
            "name": "vLLM",
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{vllm}/v1"},
            "models": {"qwen": {"name": "qwen", "limit": {"context": 32_768}}},
        },
    }


async def test_llama_cpp_tells_its_context() -> None:
    props = {"default_generation_settings": {"n_ctx": 8192}}
    with serving({"/v1/models": listing("m.gguf"), "/props": props}) as (url, _):
        found = await discover({"llamacpp": Endpoint("llama.cpp", url, props=True)}, PATIENT)

    assert found["llamacpp"]["models"] == {"m.gguf": {"name": "m.gguf", "limit": {"context": 8192}}}


async def test_a_server_that_never_answers_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert await discover({"silent": Endpoint("Silent", url)}, timeout_s=0.05) == {}


async def test_a_redirect_leads_nowhere() -> None:
    with serving({"/v1/models": listing("m")}) as (target, asked):
        head = f"HTTP/1.1 302 Found\r\nlocation: {target}/v1/models\r\ncontent-length: 0\r\n\r\n".encode()
        with socket.create_server(("127.0.0.1", 0)) as server:
            thread = threading.Thread(target=_answer_once, args=(server, head))
            thread.start()
            url = f"http://127.0.0.1:{server.getsockname()[1]}"
            assert await discover({"sly": Endpoint("Sly", url)}, PATIENT) == {}
            thread.join()

    assert asked == []


def _answer_once(server: socket.socket, answer: bytes) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(answer)


def test_one_answer_serves_every_event_loop() -> None:
    with serving({"/v1/models": listing("m")}) as (url, asked):
        local = Local({"ollama": Endpoint("Ollama", url)})

        assert local.latest() == {}, "the first question is asked in the background"
        first = asyncio.run(local.wait())
        again = asyncio.run(local.wait())

    assert list(first) == ["ollama"]
    assert again is first
    assert local.latest() is first
    assert asked == ["/v1/models"]


async def test_one_who_stops_waiting_does_not_spoil_it_for_others() -> None:
    release = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        body = b'{"data": [{"id": "m"}]}'
        answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)

        def hold() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65_536)
                release.wait(PATIENT)
                connection.sendall(answer)

        thread = threading.Thread(target=hold)
        thread.start()
        local = Local({"slow": Endpoint("Slow", f"http://127.0.0.1:{server.getsockname()[1]}")})
        impatient, patient = asyncio.create_task(local.wait()), asyncio.create_task(local.wait())
        await asyncio.sleep(0)
        impatient.cancel()
        release.set()
        await patient
        thread.join()

    assert impatient.cancelled() or impatient.cancelling()
    assert list(local.latest()) == ["slow"]


async def test_it_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    with serving({"/v1/models": listing("m")}) as (url, asked):
        local = Local({"ollama": Endpoint("Ollama", url)})

        assert await local.wait() == {}
        assert local.latest() is local.latest(), "nothing is resolved anew"

    assert asked == []
