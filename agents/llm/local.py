"""What was last found on loopback, kept for a minute and asked again in the background.

Threads and no event loop: two loops of the process share it.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.llm.known import COMPATIBLE
from sessions.core import variables

# Model servers on this machine: Ollama, LM Studio, llama.cpp and vLLM on their default ports.
#
# All four answer `GET /v1/models` as OpenAI does; vLLM adds `max_model_len`, and llama.cpp tells the size of
# its context under `/props`. Plain `http.client` in threads: light, bound to no event loop, and neither
# proxies nor redirects can lead it off the loopback interface.

TIMEOUT = 0.3
_MOST = 1024 * 1024
_FAILURES = (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException)
"""Whatever a server that is none of these, or is half started, may cause."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server to ask; `url` ends before `/v1`. Only llama.cpp has `props`."""

    name: str
    url: str
    props: bool = False


ENDPOINTS: Mapping[str, Endpoint] = {
    "ollama": Endpoint("Ollama", "http://127.0.0.1:11434"),
    "lmstudio": Endpoint("LM Studio", "http://127.0.0.1:1234"),
    "llamacpp": Endpoint("llama.cpp", "http://127.0.0.1:8080", props=True),
    "vllm": Endpoint("vLLM", "http://127.0.0.1:8000"),
}


async def discover(
    endpoints: Mapping[str, Endpoint] = ENDPOINTS, timeout_s: float = TIMEOUT
) -> dict[str, dict[str, Any]]:
    """Ask all endpoints at once; entries like those of the configuration's `provider` block, by id.

    `timeout_s` limits each of them. Never raises: who does not answer with a list of models is left out.
    """
    answers = await asyncio.gather(*(asyncio.to_thread(_ask, e, timeout_s) for e in endpoints.values()))
    return {name: answer for name, answer in zip(endpoints, answers, strict=True) if answer}


def _ask(endpoint: Endpoint, timeout_s: float) -> dict[str, Any] | None:
    deadline = time.monotonic() + timeout_s
    models: dict[str, Any] = {}
    with suppress(*_FAILURES):
        for item in _get(f"{endpoint.url}/v1/models", deadline)["data"]:
            if "embed" not in item["id"].lower():
                models[item["id"]] = {"name": item["id"], **_limit(item.get("max_model_len"))}
    if not models:
        return None
    if endpoint.props:
        with suppress(*_FAILURES):
            size = _get(f"{endpoint.url}/props", deadline)["default_generation_settings"]["n_ctx"]
            models = {name: {**model, **_limit(size)} for name, model in models.items()}
    return {
        "name": endpoint.name,
        "npm": COMPATIBLE,
        "options": {"baseURL": f"{endpoint.url}/v1"},
        "models": models,
    }


def _limit(context: Any) -> dict[str, Any]:
    return {"limit": {"context": context}} if isinstance(context, int) and context > 0 else {}


def _get(url: str, deadline: float) -> Any:
    """The JSON at an address; raises OSError when it is not all there by the deadline (monotonic)."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=_left(deadline))
    try:
        connection.request("GET", parts.path, headers={"accept": "application/json"})
        response = connection.getresponse()
        if response.status != http.client.OK:
            raise OSError(f"status {response.status}")
        body = b""
        while chunk := response.read1(65_536):
            body += chunk
            _left(deadline)
            if len(body) > _MOST:
                raise OSError("answer too long")
        return json.loads(body)
    finally:
        connection.close()


def _left(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


Found = Mapping[str, Mapping[str, Any]]

KEPT = 60.0
"""Seconds an answer counts as fresh."""
SWITCH = variables.NO_DISCOVERY.name
"""Environment variable that, when set, keeps us from asking anybody."""


_NOTHING: Found = {}


class Local:
    """The answers of the local model servers."""

    def __init__(self, endpoints: Mapping[str, Endpoint] = ENDPOINTS) -> None:
        self._endpoints = endpoints
        self._lock = threading.Lock()
        self._asking: Future[Found] | None = None
        self._found: Found = _NOTHING
        self._until = float("-inf")

    def latest(self) -> Found:
        """The last answer at once, empty before the first; a stale one is asked for again meanwhile.

        The object stays the same as long as the answer does.
        """
        self._refresh()
        return self._found

    async def wait(self) -> Found:
        """A fresh answer; what it takes is bounded by the servers' timeout."""
        asking = self._refresh()
        if asking is not None:
            await asyncio.wrap_future(asking)
        return self._found

    def _refresh(self) -> Future[Found] | None:
        """The question that is under way, begun when the answer is stale; None while it is fresh."""
        if variables.NO_DISCOVERY.read():
            self._found = _NOTHING
            return None
        with self._lock:
            if self._asking is None and time.monotonic() >= self._until:
                self._asking = Future()
                # Running from the start: whoever is cancelled while waiting must not cancel it for others.
                self._asking.set_running_or_notify_cancel()
                threading.Thread(
                    target=self._ask, args=(self._asking,), name="discovery", daemon=True
                ).start()
            return self._asking

    def _ask(self, asking: Future[Found]) -> None:
        found = self._found
        try:
            found = asyncio.run(discover(self._endpoints))
        finally:
            with self._lock:
                if found != self._found:
                    self._found = found
                self._until = time.monotonic() + KEPT
                self._asking = None
            asking.set_result(self._found)


local = Local()
