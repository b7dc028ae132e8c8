"""Costly texts are given up, and what comes after them is done as if nothing had been."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from agents.toolkit.base import ToolError
from agents.toolkit.shared.web.fetch import Page
from agents.toolkit.shared.web.readable import readable
from sessions.core.offload import MOST_ENDED, NotDone, pool
from sessions.rendering.blocks import BlockStream, render_whole
from sessions.rendering.highlight import highlight
from tests.hostile.texts import TEXTS
from tests.hostile.works import SECONDS, deep, endless, environment, greedy, process
from tests.server import ROOT

PAGES = ("tags in tags", "nested tags", "open scripts")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Less time for each work, and no memory of the tests before."""
    run = pool.run

    def shorter(name: str, seconds: float, arguments: tuple[Any, ...]) -> Any:
        return run(name, min(seconds, SECONDS), arguments)

    monkeypatch.setattr(pool, "run", shorter)
    pool._ended.clear()
    pool._given_up.clear()
    yield
    pool._ended.clear()
    pool._given_up.clear()


@pytest.mark.parametrize(
    ("work", "reason"), [(endless, "seconds"), (greedy, "memory"), (deep, "nested too deep")]
)
def test_what_takes_too_much_is_given_up(work: Any, reason: str) -> None:
    with pytest.raises(NotDone, match=reason):
        work("x")
    assert process("printed, which is no answer") != os.getpid()


def test_the_process_is_warm_and_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    assert process("a") == process("b")
    assert "s3cret" not in str(environment("x"))


def test_one_that_ended_by_itself_is_replaced() -> None:
    before = process("a")
    for one in pool._free:
        one._process.kill()
        one._process.wait()
    assert process("a") != before


def test_many_costly_texts_do_not_each_take_their_time() -> None:
    for number in range(MOST_ENDED):
        with pytest.raises(NotDone, match="seconds"):
            endless(f"{number}")
    begin = time.process_time()
    with pytest.raises(NotDone, match="a moment ago"):
        endless("another")
    with pytest.raises(NotDone, match="seconds"):
        endless("0")
    assert time.process_time() - begin < SECONDS


def test_it_ends_with_the_program() -> None:
    """Also in the middle of work, and also when that is killed."""
    code = (
        "from tests.hostile.works import process, endless\n"
        "import os, threading\n"
        "print(process('x'), flush=True)\n"
        "threading.Thread(target=endless, args=('x',)).start()\n"
    )
    program = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    child = int(program.stdout.readline())
    program.send_signal(signal.SIGKILL)
    program.wait()
    end = time.monotonic() + 30
    while _runs(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    """Not as a zombie, which nobody may be there to collect."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def test_costly_pages_become_text_or_an_error() -> None:
    for name in PAGES:
        page = Page("http://a.example", "text/html", "utf-8", TEXTS[name](300_000).encode())
        try:
            assert isinstance(readable(page, "markdown"), str)
        except ToolError as error:
            assert "could not be turned into markdown" in str(error)  # noqa: PT017
        pool._ended.clear()
    good = Page("http://a.example", "text/html", "utf-8", b"<h1>Good</h1><p>text")
    assert "Good" in readable(good, "markdown")


def test_no_codec_of_a_page_is_costly() -> None:
    page = Page("http://a.example", "text/plain", "punycode", b"a" * 300_000 + b"-" + b"b" * 300_000)
    assert len(readable(page, "text")) == 600_001


@pytest.mark.long
def test_costly_markdown_is_shown_plain_or_rendered() -> None:
    """And what comes after it is rendered as before."""
    for text in TEXTS.values():
        render_whole(text(30_000))
    assert render_whole("**small**") == '<p dir="auto"><strong>small</strong></p>\n'
    pool._ended.clear()
    assert "<strong>" in render_whole("**long** " + "word " * 2000)


@pytest.mark.parametrize("language", ["js", "c++", "markdown"])
def test_costly_code_is_shown_plain_or_coloured(language: str) -> None:
    for name in ("member access", "open strings", "braces", "open comment", "digits", "angles", "one line"):
        pool._ended.clear()
        assert highlight(TEXTS[name](20_000), language)


async def test_a_costly_block_that_streams_leaves_the_loop_alone() -> None:
    """As the page's socket does it: while the block is rendered, the loop goes on."""
    stream = BlockStream("grow")
    turns = 0

    async def turning() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.01)

    other = asyncio.create_task(turning())
    await asyncio.to_thread(stream.feed, "![" * 25_000)
    update = await asyncio.to_thread(stream.close)
    other.cancel()
    assert "![![" in update.closed
    assert turns > 3
