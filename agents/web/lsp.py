"""Language servers on the page of servers: how they stand, switching them on, installing them.

What is shown is exchanged in pieces (static/js/languages.js).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from agents.config.configuration import load
from agents.config.problem import Refused, Unreadable
from agents.config.writing import change
from agents.servers.lsp.finding import Found
from agents.servers.lsp.install import Installation, allowed, by_hand, installer, lacking
from agents.servers.lsp.matrix.row import Package, Row
from agents.servers.lsp.matrix.table import BUILTIN
from agents.servers.lsp.plan import Place, Use, plan, uses
from agents.servers.lsp.plan import place_of as languages_of
from agents.servers.lsp.service import service
from agents.servers.lsp.trusted import Held
from agents.servers.lsp.types import ServerState
from sessions.core import bus
from sessions.core.sentences import message_of, translate
from sessions.core.text import shown_output
from sessions.project.search.listing import listing
from sessions.project.search.ripgrep import SearchFailed
from sessions.rendering.html import html
from sessions.web.places import place_of
from sessions.web.respond import beside, done, fragment

MAX_REASON = 2000
MEMORY_STEP = 10 * 1024**2
"""Bytes: a server that holds a little more than before is not shown anew."""
_WORDS = {
    "connected": gettext_noop("Running"),
    "starting": gettext_noop("Starting"),
    "error": gettext_noop("Failed"),
    "missing": gettext_noop("Not installed"),
    "held": gettext_noop("Waits for your trust"),
    "idle": gettext_noop("Not running"),
}
_LOOK = {"connected": "connected", "starting": "connecting", "error": "failed", "held": "held"}
"""The states of the style sheet."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One server in one root. `folder` is its root, relative to the worktree."""

    row: Row
    state: ServerState
    folder: str
    installation: Installation | None = None

    @property
    def place(self) -> str:
        """The id of its row in the page."""
        name = f"{self.row.id}\0{self.state.root}".encode("utf-8", "surrogatepass")
        return f"language-{sha256(name).hexdigest()[:16]}"

    @property
    def root(self) -> str:
        return str(self.state.root)

    @property
    def installing(self) -> bool:
        return self.installation is not None and self.installation.status == "running"

    @property
    def words(self) -> str:
        return gettext("Installing") if self.installing else gettext(_WORDS[self.state.status])

    @property
    def look(self) -> str:
        return "connecting" if self.installing else _LOOK.get(self.state.status, "disabled")

    @property
    def memory(self) -> int:
        return -(-(self.state.memory or 0) // MEMORY_STEP) * MEMORY_STEP

    @property
    def problem(self) -> str:
        """What went wrong, at length."""
        failed = self.installation.problem if self.installation and self.state.status == "missing" else ""
        return shown_output(translate(failed or self.state.reason), limit=MAX_REASON) if self.failed else ""

    @property
    def failed(self) -> bool:
        missing = self.state.status == "missing" and self.installation is not None
        return self.state.status == "error" or (missing and not self.installing)

    @property
    def note(self) -> str:
        """Why it does not run, or what it is at work on, in a line."""
        usual = f"{self.row.commands[0][0]} was not found."
        if self.failed or self.installing or self.state.reason == usual:
            return ""
        return shown_output(translate(self.state.reason), limit=300)

    @property
    def installs(self) -> bool:
        """Whether a click can install it."""
        package = self.row.install
        return (
            isinstance(package, Package) and allowed() and not lacking(package) and not self.row.own_command
        )

    @property
    def lacks(self) -> str:
        return lacking(self.row.install) if isinstance(self.row.install, Package) and allowed() else ""

    @property
    def by_hand(self) -> str:
        """How a person gets it, where no click does; empty for a command of the configuration."""
        return "" if self.installs or self.row.own_command else by_hand(self.row)

    @property
    def progress(self) -> str:
        """The last lines of what is installing it."""
        return shown_output(self.installation.log.last(6)) if self.installation and self.installing else ""

    @property
    def head(self) -> str:
        """What changes by itself: the state, and what can be done about it."""
        return html("lsp/head.html", shown=self)

    @property
    def version(self) -> str:
        return sha256(self.head.encode()).hexdigest()[:12]


def shown(directory: Path) -> list[Shown]:
    """Those that files asked for, and those that files of the project would ask for. Raises OSError."""
    place = languages_of(directory)
    rows = {row.id: row for row in place.rows}
    states = service.statuses(directory)
    known = {state.id for state in states}
    found = [*states, *(_expected(use) for use in _expected_uses(place) if use.row.id not in known)]
    return [
        Shown(rows[state.id], state, _relative(state.root, place.worktree), installer.of(rows[state.id]))
        for state in sorted(found, key=_order)
    ]


def others(place: Place, listed: Sequence[Shown]) -> list[Shown]:
    """The servers that no file of the project asks for."""
    known = {one.row.id for one in listed}
    left = [row for row in place.rows if row.id not in known]
    states = [_expected(plan(row, place.worktree, place.worktree)) for row in left]
    return [Shown(row, state, "", installer.of(row)) for row, state in zip(left, states, strict=True)]


def _expected_uses(place: Place) -> Iterator[Use]:
    """The servers of one file of each kind: the one nearest to the worktree."""
    seen: set[str] = set()
    for file in _examples(place):
        for use in uses(place, file):
            if use.row.id not in seen:
                seen.add(use.row.id)
                yield use


def _examples(place: Place) -> Iterator[Path]:
    try:
        names = listing(place.worktree).files
    except (SearchFailed, OSError):
        return
    kinds: dict[str, str] = {}
    for name in sorted(names, key=lambda name: (name.count("/"), name)):
        kinds.setdefault(PurePosixPath(name).suffix or PurePosixPath(name).name, name)
    yield from (place.worktree / name for name in kinds.values())


def _expected(use: Use) -> ServerState:
    status: Literal["idle", "held", "missing"] = "missing"
    if isinstance(use.outcome, Found):
        return ServerState(use.row.id, use.row.language, use.root, "idle")
    if isinstance(use.outcome, Held):
        status = "held"
    return ServerState(use.row.id, use.row.language, use.root, status, use.outcome.reason)


def _order(state: ServerState) -> tuple[int, str, str]:
    return list(_WORDS).index(state.status) if state.status == "missing" else 0, state.name, str(state.root)


def _relative(root: Path, worktree: Path) -> str:
    return "" if root == worktree else root.relative_to(worktree).as_posix()


@require_GET
async def languages(request: HttpRequest) -> HttpResponse:
    """The section of `?project=`."""
    place = await place_of(request.GET)
    try:
        await service.renew(place.directory)
        context = await asyncio.to_thread(_section, place.directory)
    except OSError as error:
        raise Http404(gettext("The folder of the project cannot be read.")) from error
    return fragment("lsp/section.html", place=place, **context)


@require_GET
async def log(request: HttpRequest) -> HttpResponse:
    """What the server `?row=` in the folder `?root=` said last, to be looked at again with `?seen=` of that;
    then nothing as long as it is the same, or where the server is gone: its row leaves the page."""
    try:
        _, state = await state_of(request.GET)
    except Http404:
        return done()
    text = shown_output("\n".join(state.log))
    version = sha256(text.encode()).hexdigest()[:12]
    seen = request.GET.get("seen")
    if version == seen:
        return HttpResponse(status=204)
    template = "lsp/lines.html" if seen else "lsp/log.html"
    return fragment(template, name=state.name, log=text, version=version)


@require_GET
async def more(request: HttpRequest) -> HttpResponse:
    """The servers that no file of the project asks for."""
    place = await place_of(request.GET)
    try:
        rows = await asyncio.to_thread(_others, place.directory)
    except OSError as error:
        raise Http404(gettext("The folder of the project cannot be read.")) from error
    return fragment("lsp/more.html", place=place, rows=rows)


async def state_of(fields: QueryDict) -> tuple[Path, ServerState]:
    """The folder of `project`, and its server `row` in the folder `root`. Raises Http404."""
    directory = (await place_of(fields)).directory
    named = fields.get("row"), fields.get("root")
    for state in await asyncio.to_thread(service.statuses, directory):
        if (state.id, str(state.root)) == named:
            return directory, state
    raise Http404(gettext("There is no such server any longer."))


def _section(directory: Path) -> dict[str, Any]:
    """`ours`: what the user's own configuration says."""
    on = load(directory).config.lsp is not False
    ours = load(None).config.lsp
    return {"on": on, "ours": ours is True, "rows": shown(directory) if on else []}


def _others(directory: Path) -> list[Shown]:
    return others(languages_of(directory), shown(directory))


RENEW = "languages:renew"
"""Told to the page: read the section again."""
_PLACE = "languages"


@require_POST
async def switch(request: HttpRequest) -> HttpResponse:
    """For all projects, in the user's own configuration: `on` switches on, without it off."""
    directory, on = (await place_of(request.POST)).directory, "on" in request.POST
    try:
        await asyncio.to_thread(change, None, {"lsp": on})
    except (Refused, Unreadable) as error:
        return beside(_PLACE, message_of(error))
    await service.renew(directory)
    if await asyncio.to_thread(_is_on, directory) != on:
        off = gettext("It is written, but the project's own configuration keeps them switched off.")
        on_still = gettext("It is written, but the project's own configuration keeps them switched on.")
        return beside(_PLACE, off if on else on_still)
    return _renewed(gettext("Language servers are on.") if on else gettext("Language servers are off."))


@require_POST
async def retry(request: HttpRequest) -> HttpResponse:
    """Start the server `row` in `root` anew; the page learns from its events what becomes of it."""
    directory, state = await state_of(request.POST)
    task = asyncio.create_task(service.retry(directory, state.id, state.root))
    _starting.add(task)
    task.add_done_callback(_starting.discard)
    return _renewed(f"{state.name}: " + gettext("starting again"))


_starting: set[asyncio.Task[None]] = set()
"""Kept, as the loop itself holds tasks weakly."""


@require_POST
async def install(request: HttpRequest) -> HttpResponse:
    """Install the server `row` from its registry."""
    row = next((row for row in BUILTIN if row.id == request.POST.get("row")), None)
    if row is None or not isinstance(row.install, Package):
        raise Http404(gettext("There is no such server to install."))
    if not allowed():
        return beside(_PLACE, gettext("Installing is switched off by OPENCODE_DISABLE_LSP_DOWNLOAD."))
    if problem := await asyncio.to_thread(lacking, row.install):
        return beside(_PLACE, problem)
    installer.begin(row, lambda: bus.publish(bus.Event("lsp.updated", {})))
    return _renewed(gettext("Installing %(language)s") % {"language": row.language})


def _renewed(said: str) -> HttpResponse:
    """`said` is read out."""
    return done(**{RENEW: {"said": said}})


def _is_on(directory: Path) -> bool:
    return load(directory).config.lsp is not False
