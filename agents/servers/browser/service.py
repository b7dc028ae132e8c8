"""The browsers of sessions: one each, begun when an agent opens a page, ended with what it was begun for."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

from agents.servers.browser import program
from agents.servers.browser.gate import Gate
from agents.servers.browser.link import Ended, Failed, Json, Link, Pipes, Unanswered
from agents.servers.browser.page import Page
from agents.toolkit import scratch
from agents.toolkit.base import ToolContext, ToolError
from agents.toolkit.children.child import Tail, describe
from agents.toolkit.sandbox import door
from agents.toolkit.sandbox.proxy import Proxy
from agents.toolkit.shared.process import CannotStart
from sessions.core import bus, paths

START_SECONDS = 30.0
IDLE_SECONDS = 600.0
"""How long it waits for the next call."""
_LASTS_SECONDS = 7 * 24 * 3600.0
_GONE = "session.deleted"

logger = logging.getLogger(__name__)


class Browser:
    """Chromium of one session; of one event loop. `over` says why it has ended, empty while it runs."""

    def __init__(self, ctx: ToolContext) -> None:
        self.over = ""
        self.confinement = ctx.turn.terms.sandbox
        self.gate = Gate(confined=self.confinement != "off")
        self._session_id = ctx.session_id
        self._link = Link(self._hear)
        self._page: Page | None = None
        self._abort = asyncio.Event()
        self._said = Tail()
        self._proxy: asyncio.Server | None = None
        self._running: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._sandbox: object = None
        self._target = self._session = ""

    @property
    def page(self) -> Page:
        assert self._page is not None
        return self._page

    def fits(self, ctx: ToolContext) -> bool:
        """Whether it is where the programs of the session are."""
        same = self._sandbox is door.sandbox(ctx.session_id)
        return self.confinement == ctx.turn.terms.sandbox and (self.confinement == "off" or same)

    async def start(self, ctx: ToolContext, url: str) -> None:
        """Once the page that it is begun for may be opened. Raises ToolError and NotPermitted."""
        try:
            path = await asyncio.to_thread(program.found)
            with self.gate.attended(ctx):
                await self.gate.admit(url)
            home = await asyncio.to_thread(_home, ctx)
            pipes = await asyncio.to_thread(Pipes, home)
        except (program.NoChromium, OSError) as error:
            raise ToolError(str(error)) from error
        if self.confinement == "off":
            served = Proxy(self.gate.permit, self.gate.serves).serve
            self._proxy = await asyncio.start_server(served, "127.0.0.1", 0)
        await self._link.connect(pipes)
        self._running = asyncio.create_task(self._run(ctx, path, home, pipes))
        beginning = asyncio.create_task(self._begin(pipes))
        try:
            async with asyncio.timeout(START_SECONDS):
                await asyncio.wait({self._running, beginning}, return_when=asyncio.FIRST_COMPLETED)
                if not self.over:
                    await beginning
        except (TimeoutError, Ended, Failed, Unanswered) as error:
            await self.end("it did not begin")
            raise self._not_begun() from error
        except BaseException:
            await asyncio.shield(self.end("it did not begin"))
            raise
        finally:
            beginning.cancel()
        if self.over:
            raise self._not_begun()
        self._sandbox = door.sandbox(ctx.session_id)
        self._watching = asyncio.create_task(self._watch())

    def _not_begun(self) -> ToolError:
        said = self._said.last()
        return ToolError(f"Chromium did not begin: {self.over}.{f' It said: {said}' if said else ''}")

    async def end(self, why: str) -> None:
        """End it, with all that it started."""
        self.over = self.over or why
        self._stay()
        self._abort.set()
        if self._watching is not None:
            self._watching.cancel()
        if self._running is not None:
            await asyncio.wait({self._running})

    @asynccontextmanager
    async def used(self, ctx: ToolContext) -> AsyncIterator[Page]:
        """For one call. Raises ToolError where it ends meanwhile."""
        self._stay()
        try:
            with self.gate.attended(ctx):
                yield self.page
        except (Ended, ToolError) as error:
            if isinstance(error, Ended) and self._running is not None:
                await asyncio.wait({self._running}, timeout=START_SECONDS)
            if not self.over:
                raise
            raise self.ended() from error
        finally:
            if self.page.broken and not self.over:
                await asyncio.shield(self.end(self.page.broken))
            if not self.over:
                self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._rest)

    def ended(self) -> ToolError:
        return ToolError(f"The browser has ended: {self.over}. `open` begins another one.")

    def _stay(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _rest(self) -> None:
        self.over = f"nobody used it for {IDLE_SECONDS / 60:g} minutes"
        self._abort.set()

    async def _watch(self) -> None:
        """End with the session."""

        def wants(event: bus.Event) -> bool:
            return event.type == _GONE

        async with bus.subscribe(session=self._session_id, wants=wants) as mailbox:
            while not await mailbox.take():
                pass
        self.over = self.over or "its session was deleted"
        self._abort.set()

    async def _run(self, ctx: ToolContext, path: str, home: Path, pipes: Pipes) -> None:
        """Until it has ended."""

        def line(variables: Mapping[str, str]) -> list[str]:
            proxy = variables.get("HTTP_PROXY", "")
            if self._proxy is not None:
                proxy = f"http://127.0.0.1:{self._proxy.sockets[0].getsockname()[1]}"
            confined = self.confinement != "off"
            return program.command(
                *(path, home / "profile", pipes.paths, proxy),
                confined=confined,
                own_sandbox=not confined and os.getuid() != 0,
            )

        try:
            ended = await door.run(
                line,
                ctx.turn,
                cwd=home,
                env=program.environment(),
                timeout=_LASTS_SECONDS,
                abort=self._abort,
                on_output=self._take,
                ask=self.gate.reach,
                lasting=True,
            )
            how = describe(ended.exit_code) if ended.exit_code is not None else "it was ended"
            if ended.ending in ("memory", "processor"):
                how = f"it reached the limit of {ended.ending} that a command has"
            self.over = self.over or how
        except (CannotStart, door.Refused) as error:
            self.over = str(error)
        except Exception:
            logger.exception("a browser ended by a fault of ours")
            self.over = self.over or "by a fault"
        finally:
            self.over = self.over or "it was ended"
            pipes.open()
            self._link.close()
            if self._page is not None:
                self._page.end()
            if self._proxy is not None:
                self._proxy.close()
            if self._watching is not None:
                self._watching.cancel()
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, home, ignore_errors=True))

    async def _begin(self, pipes: Pipes) -> None:
        """One page of its own; whatever else opens is closed before it loads anything."""
        await self._link.call("Browser.getVersion", seconds=None)
        pipes.open()
        await self._link.call("Browser.setDownloadBehavior", behavior="deny", eventsEnabled=True)
        made = await self._link.call("Target.createTarget", url="about:blank")
        target = str(made["targetId"])
        joined = await self._link.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self._link, self.gate, target, joined["sessionId"])
        self._page, self._target, self._session = page, target, joined["sessionId"]
        await page.begin()
        only_pages = [{"type": "page"}, {"exclude": True}]
        await self._link.call(
            "Target.setAutoAttach",
            autoAttach=True,
            waitForDebuggerOnStart=True,
            flatten=True,
            filter=only_pages,
        )

    def _hear(self, session: str, method: str, said: Json) -> None:
        if session and session == self._session and self._page is not None:
            self._page.hear(method, said)
        elif method == "Target.attachedToTarget" and self._page is not None:
            self._attached(said)
        elif method == "Browser.downloadWillBegin" and self._page is not None:
            name = str(said.get("suggestedFilename", ""))[:200]
            self._page.note(f"The page began a download ({name}), which was not let.")

    def _attached(self, said: Json) -> None:
        """Another page, or the own one by a second way."""
        target = said["targetInfo"]["targetId"]
        if target != self._target:
            self._link.tell("Target.closeTarget", targetId=target)
        elif said["sessionId"] != self._session:
            self._link.tell("Target.detachFromTarget", sessionId=said["sessionId"])

    async def _take(self, chunk: bytes) -> None:
        self._said.feed(chunk)


def _home(ctx: ToolContext) -> Path:
    """A new folder for all that it keeps. Raises ToolError and OSError. Blocks."""
    folder = scratch.made(paths.tool_output(), ctx.session_id)
    if folder is None:
        raise ToolError("The session's temporary folder cannot be made, and the browser needs one.")
    return Path(tempfile.mkdtemp(prefix="browser-", dir=folder))


@dataclass(slots=True)
class Seat:
    """A session's place for its browser."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    browser: Browser | None = None

    def there(self) -> Browser:
        """The one that runs. Raises ToolError."""
        if self.browser is None:
            raise ToolError("No page is open. Begin with `open`.")
        if self.browser.over:
            raise self.browser.ended()
        return self.browser

    async def begun(self, ctx: ToolContext, url: str) -> Browser:
        """The one that runs, else a new one for a page. Raises ToolError and NotPermitted."""
        before = self.browser
        if before is not None and not before.over and before.fits(ctx):
            return before
        if before is not None:
            await before.end("the sandbox of the session is another one now")
        self.browser = None
        browser = Browser(ctx)
        await browser.start(ctx, url)
        self.browser = browser
        if before is not None:
            browser.page.note(f"This is a new browser, with nothing stored. The last one: {before.over}.")
        return browser

    async def end(self, why: str) -> bool:
        """Whether there was one."""
        browser, self.browser = self.browser, None
        if browser is None or browser.over:
            return False
        await browser.end(why)
        return True


_seats: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Seat]] = WeakKeyDictionary()


@asynccontextmanager
async def seat(session_id: str) -> AsyncIterator[Seat]:
    """A session's place, for one call at a time."""
    seats = _seats.setdefault(asyncio.get_running_loop(), {})
    place = seats.setdefault(session_id, Seat())
    async with place.lock:
        yield place


async def end(session_id: str) -> None:
    """A turn was stopped, or nobody goes on with its session."""
    place = _seats.get(asyncio.get_running_loop(), {}).pop(session_id, None)
    if place is not None:
        await place.end("its turn was stopped")


async def close() -> None:
    """End every browser of the running loop."""
    places = _seats.pop(asyncio.get_running_loop(), {})
    await asyncio.gather(*(place.end("the server ends") for place in places.values()))
