"""The one page of an agent's browser: what it is told to do, what it says, and when it has come to rest."""

from __future__ import annotations

import asyncio
import base64
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agents.servers.browser.gate import Gate, origin_of
from agents.servers.browser.keys import NoKey, strokes
from agents.servers.browser.link import Failed, Json, Link, Unanswered
from agents.servers.browser.outline import Outline, Refs
from agents.toolkit.base import ToolError
from agents.toolkit.permission.errors import NotPermitted
from agents.toolkit.sandbox.proxy import NAME

WIDTH, HEIGHT = 1280, 800
PHONE_WIDTH = 600
"""Below it a page is laid out as a phone does, by its own word (`viewport`)."""
LOAD_SECONDS = 20.0
"""How long a page may load before it is told as it is."""
REST_SECONDS = 5.0
"""The same after a click or a key."""
QUIET_SECONDS = 0.25
"""For which nothing happens in a page that has come to rest."""
MOST_LINES = 200
"""Of the console, and of the network."""
MOST_TEXT = 500
"""Characters of one of them."""
LARGEST_PICTURE = 2 * 1024 * 1024
_UNCOUNTED = frozenset(("WebSocket", "EventSource", "Ping", "CSPViolationReport"))
"""Requests that may never end, or that nobody waits for."""
_STIRRING = ("Page.", "Network.", "Fetch.")
"""Events by which a page is not at rest: what it says is none."""
_LEVELS = {"warning": "warning", "error": "error", "assert": "error"}

# Functions for elements of a page, called with the element as `this`.

_COVERED = """function (x, y) {
  if (this.ownerDocument.defaultView !== top) return "";
  const found = this.getRootNode().elementFromPoint(x, y);
  const same = (one) => one.contains(found) || found.contains(one);
  if (!found || [this, ...(this.labels || [])].some(same)) return "";
  return found.tagName.toLowerCase() + (found.id ? "#" + found.id : "");
}"""
_FILL = """function (text) {
  const tell = () => {
    for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, { bubbles: true }));
  };
  if (this.disabled || this.readOnly) return "It cannot be changed now.";
  if (this instanceof HTMLSelectElement) {
    const wanted = text.trim();
    const options = [...this.options];
    const labels = options.map((one) => one.label.trim());
    const found = options[labels.indexOf(wanted)] || options.find((one) => one.value === wanted);
    if (!found) return "It has no such option; there are: " + labels.join(", ");
    found.selected = true;
    tell();
    return "done";
  }
  const special = ["date", "time", "datetime-local", "month", "week", "color", "range"];
  if (this instanceof HTMLInputElement && special.includes(this.type)) {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(this, text);
    tell();
    return this.value === text ? "done" : `It takes no such value; it is "${this.value}" now.`;
  }
  const texts = ["checkbox", "radio", "file", "submit", "button", "reset", "image", "hidden"];
  const takes = this instanceof HTMLInputElement ? !texts.includes(this.type)
    : this instanceof HTMLTextAreaElement || this.isContentEditable;
  if (!takes) return "Nothing can be typed into it.";
  this.focus();
  if (this.select) this.select();
  else getSelection().selectAllChildren(this);
  return "type";
}"""


@dataclass(frozen=True, slots=True)
class Line:
    """One of the console."""

    level: str
    text: str
    count: int = 1


@dataclass(slots=True)
class Request:
    """One of the network. `status` is 0 until there is an answer; `failed` says why there is none."""

    method: str
    url: str
    kind: str
    begun: float
    loader: str
    status: int = 0
    failed: str = ""
    size: int = 0
    ended: float = 0.0


class Page:
    """Of one event loop. What is to be said beside an outcome waits until it is taken."""

    def __init__(self, link: Link, gate: Gate, target: str, session: str) -> None:
        self.url = ""
        self.status = 0
        self.broken = ""
        """Why it can do nothing more."""
        self.refs = Refs()
        self._link, self._gate = link, gate
        self._target, self._session = target, session
        self._console: deque[Line] = deque(maxlen=MOST_LINES)
        self._errors = 0
        self._requests: dict[str, Request] = {}
        self._notes: list[str] = []
        self._changed = asyncio.Event()
        self._loading = False
        self._paused = 0
        self._refusal: Exception | None = None
        self._unreached = ""
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._accepts = False
        self._tasks: set[asyncio.Task[None]] = set()
        self._heard: Mapping[str, Callable[[Json], None]] = {
            "Page.frameStartedLoading": lambda said: self._loads(said, begins=True),
            "Page.frameStoppedLoading": lambda said: self._loads(said, begins=False),
            "Page.frameNavigated": self._navigated,
            "Page.navigatedWithinDocument": self._moved,
            "Page.javascriptDialogOpening": self._dialog,
            "Page.windowOpen": self._window,
            "Page.fileChooserOpened": lambda _: self.note("The page asks for a file; none can be given."),
            "Runtime.consoleAPICalled": self._said,
            "Runtime.exceptionThrown": self._thrown,
            "Log.entryAdded": self._logged,
            "Network.requestWillBeSent": self._asked,
            "Network.responseReceived": self._answered,
            "Network.loadingFinished": self._loaded,
            "Network.loadingFailed": self._not_loaded,
            "Fetch.requestPaused": lambda said: self._begin(self._decide(said)),
            "Inspector.targetCrashed": lambda _: self._break("the page has crashed"),
        }

    async def begin(self) -> None:
        """Listen to all of it before anything is opened."""
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Inspector"):
            await self._call(f"{domain}.enable")
        await self._call("Fetch.enable", patterns=[{"urlPattern": "*", "resourceType": "Document"}])
        await self._call("Page.setInterceptFileChooserDialog", enabled=True)
        await self._call("Emulation.setFocusEmulationEnabled", enabled=True)
        with suppress(ToolError):  # an older Chromium has no such command
            await self._call("Page.setPrerenderingAllowed", isAllowed=False)  # it loads where nobody looks
        await self.resize(WIDTH)

    def hear(self, method: str, said: Json) -> None:
        """An event of it."""
        if (hear := self._heard.get(method)) is not None:
            hear(said)
            if method.startswith(_STIRRING):
                self._changed.set()

    def end(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._break("it has ended")

    def note(self, words: str) -> None:
        """Say it with the outcome of the call that runs, or of the next one."""
        if words not in self._notes:
            self._notes.append(words)

    def take_notes(self) -> list[str]:
        notes, self._notes = self._notes, []
        return notes

    def take_errors(self) -> int:
        """How many came in the console since this was asked."""
        errors, self._errors = self._errors, 0
        return errors

    # What it is told to do.

    async def open(self, url: str) -> None:
        """Raises ToolError and NotPermitted."""
        await self._gate.admit(url)
        self._console.clear()
        self._requests.clear()
        self._errors, self._unreached = 0, ""
        with self._answering(accept=False):
            answer = await self._patiently("Page.navigate", url=url)
            self._raise_refusal()
            if problem := answer.get("errorText") or self._unreached:
                raise ToolError(f"{url} could not be opened: {problem}.")
            await self._rest(LOAD_SECONDS)

    async def click(self, ref: str, *, accept: bool) -> str:
        """What was clicked, in words. Raises ToolError and NotPermitted."""
        element, label = self._meant(ref)
        x, y = await self._place(element, label)
        if cover := await self._function(element, _COVERED, x, y):
            raise ToolError(f"{label} was not clicked: <{cover}> lies on top of it.")
        with self._answering(accept=accept):
            at = {"x": x, "y": y, "button": "left", "clickCount": 1}
            await self._patiently("Input.dispatchMouseEvent", **{**at, "button": "none"}, type="mouseMoved")
            await self._patiently("Input.dispatchMouseEvent", **at, type="mousePressed")
            await self._patiently("Input.dispatchMouseEvent", **at, type="mouseReleased")
            await self._rest(REST_SECONDS)
        return label

    async def type(self, ref: str, text: str, *, submit: bool, accept: bool) -> str:
        """In place of what is there. What it was typed into, in words. Raises ToolError and NotPermitted."""
        element, label = self._meant(ref)
        with self._answering(accept=accept):
            done = await self._function(element, _FILL, text)
            if done == "type" and text:
                await self._patiently("Input.insertText", text=text)
            elif done == "type":
                await self._strokes("Backspace")
            elif done != "done":
                raise ToolError(f"{label}: {done}")
            if submit:
                await self._strokes("Enter")
            await self._rest(REST_SECONDS)
        return label

    async def press(self, key: str, *, accept: bool) -> None:
        """Raises ToolError and NotPermitted."""
        with self._answering(accept=accept):
            await self._strokes(key)
            await self._rest(REST_SECONDS)

    async def resize(self, width: int) -> None:
        phone = width < PHONE_WIDTH
        await self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=HEIGHT,
            deviceScaleFactor=1,
            mobile=phone,
        )

    # What of it is shown.

    async def title(self) -> str:
        told = await self._call("Target.getTargetInfo", session="", targetId=self._target)
        return str(told["targetInfo"].get("title", ""))

    async def text(self) -> str:
        """Its accessibility tree. Raises ToolError and NotPermitted."""
        await self.admitted()
        nodes = (await self._call("Accessibility.getFullAXTree"))["nodes"]
        outline = Outline(self.refs, await self._clickable(), await self._frames())
        return outline.text(nodes)

    async def picture(self) -> tuple[str, bytes]:
        """What is in sight: its media type, its bytes. Raises ToolError and NotPermitted."""
        await self.admitted()
        for how in ({"format": "png"}, {"format": "jpeg", "quality": 80}):
            shot = await self._call("Page.captureScreenshot", **how)
            content = base64.b64decode(shot["data"])
            if how["format"] == "jpeg" or len(content) <= LARGEST_PICTURE:
                return f"image/{how['format']}", content
        raise AssertionError

    async def admitted(self) -> None:
        """What is there may be shown, wherever it came from. Raises ToolError and NotPermitted."""
        if self.broken:
            raise self._failed("")
        if origin_of(self.url):
            await self._gate.admit(self.url)

    def console(self) -> list[str]:
        """What was said since the page was opened."""
        return [
            f"[{line.level}] {line.text}{f' (×{line.count})' if line.count > 1 else ''}"
            for line in self._console
        ]

    def network(self) -> list[str]:
        """What was asked for since the page was opened, the failures first."""
        told = [(_failed(one), _told(one)) for one in self._requests.values()]
        return [line for _, line in sorted(told, key=lambda each: not each[0])]

    # How it is talked to.

    async def _call(self, method: str, *, session: str | None = None, **params: Any) -> Json:
        """Raises ToolError."""
        whose = self._session if session is None else session
        try:
            return await self._link.call(method, whose, **params)
        except Failed as error:
            raise self._failed(str(error)) from error
        except Unanswered as error:
            raise self._failed("") from error

    def _failed(self, said: str) -> ToolError:
        """`said` is what Chromium says; empty where no answer comes."""
        if said and not self.broken:
            return ToolError(f"Chromium says: {said}")
        self._break("it does not answer, as a script of it may run without end")
        return ToolError(f"There is no page any more: {self.broken}. `open` begins anew.")

    async def _patiently(self, method: str, **params: Any) -> Json:
        """The time in which a person is asked is none of it. Raises ToolError."""
        call = asyncio.ensure_future(self._link.call(method, self._session, None, **params))
        try:
            clock, pauses = time.monotonic, self._gate.pauses
            end = clock() + LOAD_SECONDS - pauses.seconds
            while not (call.done() or self.broken) and (left := end + pauses.seconds - clock()) > 0:
                watched: set[asyncio.Future[Any]] = {call, self._over}
                await asyncio.wait(watched, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not call.done():
                raise self._failed("")
            return call.result()
        except Failed as error:
            raise self._failed(str(error)) from error
        finally:
            call.cancel()

    async def _rest(self, seconds: float) -> None:
        """Until it has loaded and nothing happens in it. Raises why it is not let lead elsewhere."""
        clock, pauses = time.monotonic, self._gate.pauses
        end = clock() + seconds - pauses.seconds
        while not self.broken:
            self._changed.clear()
            waits = self._paused or self._gate.asking
            busy = waits or self._loading or any(map(_is_awaited, self._requests.values()))
            left = end + pauses.seconds - clock()
            if left <= 0:
                self.note(f"It is not at rest after {seconds:g} seconds.")
                break
            if not await self._stirs(left if busy else min(left, QUIET_SECONDS)) and not busy:
                break
        self._raise_refusal()
        if self.broken:
            raise self._failed("")

    async def _stirs(self, within: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                return await self._changed.wait()
        return False

    def _answering(self, *, accept: bool) -> _Answering:
        return _Answering(self, accept)

    def _raise_refusal(self) -> None:
        refusal, self._refusal = self._refusal, None
        if refusal is not None:
            raise refusal

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _break(self, why: str) -> None:
        self.broken = self.broken or why
        self._changed.set()
        if not self._over.done():
            self._over.set_result(None)

    def _meant(self, ref: str) -> tuple[int, str]:
        if (found := self.refs.get(ref)) is None:
            raise ToolError(f"There is no {ref!r} on this page. `look` gives the refs that there are.")
        return found

    async def _place(self, element: int, label: str) -> tuple[float, float]:
        """The middle of an element that is in sight. Raises ToolError."""
        try:
            await self._link.call("DOM.scrollIntoViewIfNeeded", self._session, backendNodeId=element)
            found = await self._link.call("DOM.getContentQuads", self._session, backendNodeId=element)
        except Failed as error:
            raise ToolError(f"{label} is not there to be clicked ({error}). Look again.") from error
        except Unanswered as error:
            raise self._failed("") from error
        quads = found["quads"]
        if not quads:
            raise ToolError(f"{label} has no place on the page: it cannot be clicked.")
        return sum(quads[0][::2]) / 4, sum(quads[0][1::2]) / 4

    async def _function(self, element: int, function: str, *given: Any) -> str:
        """What a function says of an element. Raises ToolError."""
        try:
            found = await self._link.call("DOM.resolveNode", self._session, backendNodeId=element)
        except Failed as error:
            raise ToolError(f"It is no longer on the page ({error}). Look again.") from error
        except Unanswered as error:
            raise self._failed("") from error
        answer = await self._patiently(
            "Runtime.callFunctionOn",
            functionDeclaration=function,
            objectId=found["object"]["objectId"],
            arguments=[{"value": value} for value in given],
            returnByValue=True,
        )
        return str(answer["result"].get("value") or "")

    async def _strokes(self, key: str) -> None:
        """Raises ToolError."""
        try:
            events = strokes(key)
        except NoKey as error:
            raise ToolError(str(error)) from error
        for event in events:
            await self._patiently("Input.dispatchKeyEvent", **event)

    async def _clickable(self) -> set[int]:
        """Elements that a script listens on for clicks."""
        with suppress(ToolError):
            shot = await self._call("DOMSnapshot.captureSnapshot", computedStyles=[])
            found: set[int] = set()
            for document in shot["documents"]:
                numbers = document["nodes"]["backendNodeId"]
                listened = document["nodes"].get("isClickable", {}).get("index", ())
                found.update(numbers[at] for at in listened)
            return found
        return set()

    async def _frames(self) -> dict[int, Sequence[Json]]:
        """The trees of frames within the page that come from a site which was permitted."""
        found: dict[int, Sequence[Json]] = {}
        tree = (await self._call("Page.getFrameTree"))["frameTree"]
        for frame in _within(tree):
            if self._gate.shows(origin_of(frame.get("securityOrigin", ""))):
                with suppress(ToolError):  # one that is gone, or of a process of its own
                    nodes = await self._call("Accessibility.getFullAXTree", frameId=frame["id"])
                    owner = await self._call("DOM.getFrameOwner", frameId=frame["id"])
                    found[owner["backendNodeId"]] = nodes["nodes"]
        return found

    # What it says.

    def _loads(self, said: Json, *, begins: bool) -> None:
        if said["frameId"] == self._target:
            self._loading = begins

    def _navigated(self, said: Json) -> None:
        frame = said["frame"]
        if frame["id"] != self._target:
            return
        self.url = frame["url"]
        self.refs.clear()
        loader = frame.get("loaderId")
        for one in self._requests.values():
            if not one.ended and one.loader != loader:
                one.ended, one.failed = time.monotonic(), one.failed or "the page was left"

    def _moved(self, said: Json) -> None:
        if said["frameId"] == self._target:
            self.url = said["url"]

    def _dialog(self, said: Json) -> None:
        kind = said["type"]
        accept = self._accepts or kind in ("alert", "beforeunload")
        given = {"promptText": said.get("defaultPrompt", "")} if kind == "prompt" else {}
        self._link.tell("Page.handleJavaScriptDialog", self._session, accept=accept, **given)
        if kind == "beforeunload":
            return
        how = "OK" if accept else "Cancel; with `accept` it is answered OK"
        self.note(f"The page said {kind}({said.get('message', '')[:MOST_TEXT]!r}), which was answered {how}.")

    def _window(self, said: Json) -> None:
        where = said.get("url") or "an empty page"
        self.note(f"The page opened a window, which was closed: {where[:MOST_TEXT]}. `open` shows it.")

    def _said(self, said: Json) -> None:
        words = " ".join(map(_shown, said.get("args", ())))
        self._say(_LEVELS.get(said["type"], "log"), words, _where(said.get("stackTrace")))

    def _thrown(self, said: Json) -> None:
        about = said["exceptionDetails"]
        thrown = about.get("exception") or {}
        words = str(thrown.get("description") or thrown.get("value") or about.get("text", ""))
        self._say("error", words if words.startswith("Uncaught") else f"Uncaught {words}", "")

    def _logged(self, said: Json) -> None:
        entry = said["entry"]
        where = f" ({entry['url']})" if entry.get("url") else ""
        self._say("error" if entry["level"] == "error" else entry["level"], f"{entry['text']}{where}", "")

    def _say(self, level: str, words: str, where: str) -> None:
        text = f"{words[:MOST_TEXT]}{f' ({where})' if where else ''}"
        self._errors += level == "error"
        last = self._console[-1] if self._console else None
        if last is not None and (last.level, last.text) == (level, text):
            self._console[-1] = Line(level, text, last.count + 1)
        else:
            self._console.append(Line(level, text))

    def _asked(self, said: Json) -> None:
        request, number = said["request"], said["requestId"]
        if request["url"].startswith("data:"):
            return
        if (before := self._requests.pop(number, None)) is not None:  # it was led on
            before.ended = time.monotonic()
            before.status = said.get("redirectResponse", {}).get("status", 0)
            self._requests[f"{number} {len(self._requests)}"] = before
        kind, loader = said.get("type", ""), said.get("loaderId", "")
        self._requests[number] = Request(request["method"], request["url"], kind, time.monotonic(), loader)
        while len(self._requests) > MOST_LINES:
            del self._requests[next(iter(self._requests))]

    def _answered(self, said: Json) -> None:
        status = int(said["response"]["status"])
        if said.get("type") == "Document" and said.get("frameId") == self._target:
            self.status = status
            self._unreached = _by_proxy(said["response"].get("headers", {}))
        if (one := self._requests.get(said["requestId"])) is not None:
            one.status = status

    def _loaded(self, said: Json) -> None:
        if (one := self._requests.get(said["requestId"])) is not None:
            one.ended, one.size = time.monotonic(), int(said.get("encodedDataLength", 0))

    def _not_loaded(self, said: Json) -> None:
        if (one := self._requests.get(said["requestId"])) is not None:
            one.ended, one.failed = time.monotonic(), said.get("blockedReason") or said.get("errorText", "")

    async def _decide(self, said: Json) -> None:
        """Of a request that waits whether it is made. Only where the page itself leads is asked about."""
        number, url = said["requestId"], said["request"]["url"]
        self._paused += 1
        try:
            if said.get("frameId") == self._target:
                await self._gate.admit(url, self.url)
        except (ToolError, NotPermitted) as refusal:
            if self._gate.attending:
                self._refusal = refusal
            else:
                self.note(f"The page wanted to lead to {url[:MOST_TEXT]}, and was not let: {refusal}")
            self._link.tell("Fetch.failRequest", self._session, requestId=number, errorReason="Aborted")
        else:
            self._link.tell("Fetch.continueRequest", self._session, requestId=number)
        finally:
            self._paused -= 1
            self._changed.set()


class _Answering:
    """How dialogs are answered meanwhile."""

    def __init__(self, page: Page, accept: bool) -> None:
        self._page, self._accept = page, accept

    def __enter__(self) -> None:
        self._page._accepts = self._accept
        self._page._refusal = None

    def __exit__(self, *_: object) -> None:
        self._page._accepts = False


def _by_proxy(headers: Json) -> str:
    """Why our proxy has not reached where a request was for; empty where the answer is not its own."""
    told = next((str(headers[name]) for name in headers if name.lower() == "proxy-status"), "")
    _, ours, details = told.partition(f"{NAME}; ")
    return details if ours else ""


def _is_awaited(one: Request) -> bool:
    return not one.ended and one.kind not in _UNCOUNTED


def _failed(one: Request) -> bool:
    return bool(one.failed) or one.status >= 400


def _told(one: Request) -> str:
    outcome = one.failed or str(one.status or "…")
    took = f" {round((one.ended - one.begun) * 1000)} ms" if one.ended else " (no end yet)"
    size = f" {one.size} bytes" if one.size else ""
    return f"{one.method} {one.url[:MOST_TEXT]} → {outcome} ({one.kind or 'Other'}){size}{took}"


def _shown(given: Json) -> str:
    """An argument of the console as its window would show it."""
    if "value" in given:
        return str(given["value"])
    preview = given.get("preview")
    if preview and preview.get("properties"):
        inner = ", ".join(f"{one['name']}: {one.get('value', '')}" for one in preview["properties"])
        return f"{{{inner}}}"
    return str(given.get("description") or given.get("unserializableValue") or given.get("type", ""))


def _where(trace: Json | None) -> str:
    """The line that said it."""
    frames = trace.get("callFrames") if trace else None
    if not frames or not frames[0].get("url"):
        return ""
    return f"{frames[0]['url']}:{frames[0]['lineNumber'] + 1}"


def _within(tree: Json) -> Iterator[Json]:
    for child in tree.get("childFrames", ()):
        yield child["frame"]
        yield from _within(child)
