"""The palette: everything that can be done or gone to from a session's page, found by a few letters.

Each entry says what a browser does with it (`static/js/palette.js`): something of the table of shortcuts, an
address, a choice, a file that is opened, a text or a snippet that goes into the prompt. As the picker of
files it has those alone, and the symbols in them.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.agent.commands.listing import Command, commands
from agents.config.configuration import load
from agents.llm.providers import Provider
from agents.servers.lsp.service import service
from agents.servers.lsp.types import Failed, Symbol
from agents.servers.lsp.uses.completion import ICONS as SYMBOL_ICONS
from agents.servers.lsp.uses.symbols import find_symbols, kind_of
from agents.toolkit.catalog import providers_of
from agents.toolkit.definitions import Agent, known_agents
from sessions.core.db import in_db
from sessions.core.models import Project, ProjectAction, Session, Snippet
from sessions.core.models.ledger import unpack_path
from sessions.core.principal import may, person_of, sees
from sessions.core.roles import Person
from sessions.core.store import knowledge, projects, searches, snippets
from sessions.core.store import sessions as session_store
from sessions.project import browsing, search, texts
from sessions.project.outline import Symbol as Outlined
from sessions.project.outline import outline
from sessions.web.access import Located, located
from sessions.web.roots import Root, root_of, roots
from sessions.web.shortcuts import SHORTCUTS, offered

MOST_OF_A_KIND = 8
MOST_RECENT = 8
MOST_UNASKED = 5
MOST_PICKED = 50
SYMBOL_SECONDS = 3.0
_SEEN = 200
"""Characters of a snippet by which it is found, beside its name."""
_OUTLINED_ICONS = {"class": "type", "heading": "list", "key": "variable", "namespace": "layers"}
MOST_SESSIONS = 400
"""Of the project, the last used ones, that are looked through."""

Act = Literal["run", "go", "choose", "open", "write", "insert", "command"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """`id` is the same for the same thing, also tomorrow; `act` with `value` is what is done. `also` are
    other words by which it is found; `shortcut` names the keys that do the same."""

    id: str
    label: str
    icon: str
    act: Act
    value: str
    detail: str = ""
    also: str = ""
    shortcut: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Of one kind. `unasked` of them are shown before anything is typed, `most` for what was."""

    title: str
    entries: Sequence[Entry]
    unasked: int = 0
    most: int = MOST_OF_A_KIND


@require_GET
async def options(request: HttpRequest) -> HttpResponse:
    """What `?q=` finds, by kinds, those first whose best entry fits best. Without it what was done last (ids
    in `recent`, the last one first), and what can be done."""
    place = await located(request.GET)
    query = " ".join(request.GET.get("q", "").lower().split())
    if request.GET.get("kind") == "files":
        groups = [group for group in await _picked(place, request.GET) if group.entries]
        return render(
            request, "pickers/palette.html", {"groups": groups, "query": query, "nothing": not groups}
        )
    known = await _known(request, place)
    if query:
        found = [(_found(group, query), group) for group in known]
        shown = [
            Group(group.title, entries) for (_, entries), group in sorted(found, key=lambda it: it[0][0])
        ]
        shown += await _files(place, query)
    else:
        shown = list(_unasked(known, request.GET.getlist("recent")[:MOST_RECENT]))
    groups = [group for group in shown if group.entries]
    nothing = not groups
    if query:
        groups.append(_texts(place.project, query))
    return render(request, "pickers/palette.html", {"groups": groups, "query": query, "nothing": nothing})


async def _known(request: HttpRequest, place: Located) -> list[Group]:
    """Nothing that would be refused to who asks."""
    config = (await asyncio.to_thread(load, place.directory)).config
    custom = await asyncio.to_thread(commands, place.directory, config)
    rows = await in_db(_rows, place.project, person_of(request))
    models = _models(await providers_of(place.directory))
    agents = (agent for agent in known_agents(config).values() if agent.primary)
    others = (row for row in rows.projects if row != place.project)
    groups = [
        Group(
            gettext("Sessions"),
            [_session(row) for row in rows.sessions if row != place.session],
            MOST_UNASKED,
        ),
        Group(gettext("Actions"), list(_actions(request)), len(SHORTCUTS), 2 * MOST_OF_A_KIND),
        Group(gettext("Commands of the project"), [_named(row) for row in rows.named]),
        Group(gettext("Settings"), list(_settings(request, place.project)), MOST_OF_A_KIND),
        Group(gettext("Projects"), [_project(row) for row in others], MOST_UNASKED),
        Group(gettext("Agents"), [_agent(agent) for agent in agents]),
        Group(gettext("Models"), list(models)),
        Group(gettext("Commands"), [_command(command) for command in custom.values()]),
        Group(gettext("Snippets"), [_snippet(row) for row in rows.snippets]),
        Group(gettext("Saved searches"), [_search(text, place.project) for text in rows.searches]),
    ]
    return [
        replace(group, entries=[one for one in group.entries if _offered(request, one)]) for group in groups
    ]


@dataclass(frozen=True, slots=True)
class _Rows:
    """What of the palette is kept in the database."""

    sessions: Sequence[Session]
    projects: Sequence[Project]
    snippets: Sequence[Snippet]
    named: Sequence[ProjectAction]
    searches: Sequence[str]


def _rows(project: Project, person: Person | None) -> _Rows:
    return _Rows(
        session_store.listing(project, roots=True, limit=MOST_SESSIONS),
        [row for row in projects.recent() if sees(person, row.id)],
        snippets.named(),
        knowledge.actions(project),
        searches.saved(),
    )


_WRITES = {"choose": "choose", "write": "prompt", "insert": "prompt", "command": "run-action"}
"""What an entry leads to in the end, by what is done with it: the name of a URL."""


def _offered(request: HttpRequest, entry: Entry) -> bool:
    return entry.act not in _WRITES or may(request, _WRITES[entry.act])


def _actions(request: HttpRequest) -> Iterator[Entry]:
    for one in offered(request, SHORTCUTS.values()):
        if one.icon:
            command = f"/{one.name}" if one.command else ""
            yield Entry(
                f"run:{one.name}", gettext(one.does), one.icon, "run", one.name, command, shortcut=one.name
            )


def _agent(agent: Agent) -> Entry:
    name = agent.name
    return Entry(
        f"agent:{name}", name.capitalize(), "spark", "choose", f"agent={name}", agent.description, "agent"
    )


def _command(command: Command) -> Entry:
    name = command.name
    return Entry(f"command:{name}", f"/{name}", "list", "write", f"/{name} ", command.description)


def _snippet(row: Snippet) -> Entry:
    return Entry(f"snippet:{row.name}", f";{row.name}", "edit", "insert", row.name, row.text[:_SEEN])


def _named(row: ProjectAction) -> Entry:
    return Entry(f"action:{row.id}", row.name, "terminal", "command", row.id, row.command[:_SEEN])


def _search(text: str, project: Project) -> Entry:
    return Entry(f"search:{text}", text, "search", "go", _search_url(project, text), "", "conversations")


def _search_url(project: Project, text: str) -> str:
    return f"{reverse('search')}?{urlencode({'q': text, 'project': project.id})}"


def _session(row: Session) -> Entry:
    return Entry(f"session:{row.id}", row.title, "edit", "go", row.get_absolute_url())


def _project(row: Project) -> Entry:
    return Entry(f"project:{row.id}", row.name, "folder", "go", row.get_absolute_url(), row.worktree)


def _settings(request: HttpRequest, project: Project) -> Iterator[Entry]:
    of, here = f"?project={project.id}", (project.id,)
    places = (
        (gettext("Settings"), "settings", "settings", (), of, "preferences store sandbox"),
        (gettext("Keys of the keyboard"), "keyboard", "keys", (), of, "shortcuts keybinds"),
        (gettext("Snippets"), "edit", "snippets", (), of, "templates texts prompts"),
        (gettext("Accounts and keys of providers"), "settings", "accounts", (), of, "login sign in api key"),
        (gettext("MCP and language servers"), "plug", "servers", (), of, "lsp"),
        (gettext("Permission rules and decisions"), "shield", "rules", here, "", "allow deny audit"),
        (gettext("Search in conversations"), "search", "search", (), of, "find text words history messages"),
        (gettext("Schedules"), "clock", "schedules", (), of, "cron timer nightly webhook loops automation"),
        (gettext("Usage"), "clock", "usage", (), "", "cost tokens spending money statistics"),
        (
            gettext("What the model is told"),
            "reader",
            "told",
            (),
            of,
            "prompt instructions skills tools context",
        ),
        (gettext("Operations log"), "list", "log", here, "", "history undo changes"),
        (gettext("All projects"), "folder", "home", (), "?choose", "open another"),
        (gettext("Import conversations"), "import", "import", (), "", "transfer opencode"),
    )
    if settings.PEOPLE:
        you = f"{settings.FRONT_PATH}you/" if settings.FRONT_PATH else reverse("you")
        if may(request, "own-keys"):
            keys = f"{reverse('own-keys')}{of}"
            also = "api key provider who pays mine"
            yield Entry("go:own-keys", gettext("Your keys of providers"), "settings", "go", keys, also=also)
        yield Entry(
            "go:you", gettext("You"), "shield", "go", you, also="password token sign out second factor"
        )
        if may(request, "people"):
            people = reverse("people")
            yield Entry("go:people", gettext("People"), "list", "go", people, also="team roles invite tokens")
    if settings.FRONT_PATH:
        yield Entry(
            "go:machines", gettext("All machines"), "layers", "go", settings.FRONT_PATH, also="nodes team"
        )
    for label, icon, name, arguments, query, also in places:
        if may(request, name):
            yield Entry(f"go:{label}", label, icon, "go", reverse(name, args=arguments) + query, also=also)


def _models(providers: Mapping[str, Provider]) -> Iterator[Entry]:
    for provider in providers.values():
        for model in provider.models.values():
            yield Entry(
                f"model:{model.ref}",
                model.label,
                "think",
                "choose",
                f"model={model.ref}",
                provider.name,
                model.ref,
            )


async def _files(place: Located, query: str, line: str = "", most: int = MOST_OF_A_KIND) -> list[Group]:
    """Those that a few letters mean, to be opened at a line where one is named: of the project, then of each
    folder beside it."""
    there = await asyncio.to_thread(roots, place.project, place.session)
    return list(await asyncio.gather(*(_files_of(root, query, line, most) for root in there)))


async def _files_of(root: Root, query: str, line: str, most: int) -> Group:
    title = gettext("Files of %(name)s") % {"name": root.name} if root.folder else gettext("Files")
    inner = query.removeprefix(f"{root.name}/") if root.folder else query
    try:
        found = await search.find_files(root.path, inner, limit=most)
    except search.SearchFailed as problem:
        logger.warning("no files for the palette: %s", problem)
        found = []
    return Group(title, [_file(root, path, line) for path in found])


def _file(root: Root, path: str, line: str = "") -> Entry:
    at, seen = f":{line}" if line else "", root.seen(path)
    label = f"{root.name}/{path}" if root.folder else path
    return Entry(f"file:{seen}", label, "file", "open", f"{seen}{at}", _line(line) if line else "")


def _line(number: object) -> str:
    return gettext("line %(number)s") % {"number": number}


_LINE = re.compile(r"(.*?):(\d{0,9})")
"""What is typed for a line of a file, or without a name of the one that is open."""


async def _picked(place: Located, asked: QueryDict) -> list[Group]:
    """Files: those that were opened last (`recent`), or that `q` means, with `:12` at a line; `@` symbols of
    the one that is `opened`, `#` those of the project and of folders beside it that may be written."""
    query, opened = asked.get("q", "").strip(), asked.get("opened", "")
    root = await asyncio.to_thread(root_of, place.project, place.session, unpack_path(opened))
    if query.startswith("#"):
        beside = await asyncio.to_thread(roots, place.project, place.session)
        searched = (_symbols_in(root, query[1:]) for root in beside if not root.locked)
        return list(await asyncio.gather(*searched))
    if query.startswith("@"):
        try:
            file = await asyncio.to_thread(browsing.inside, root.path, unpack_path(opened))
        except browsing.Unreadable:
            return []
        return [await _symbols_of(root, file, opened, query[1:].lower())] if opened else []
    if line := _LINE.fullmatch(query):
        return await _files(place, line[1], line[2], MOST_PICKED) if line[1] else _lines(opened, line[2])
    if query:
        return await _files(place, query, most=MOST_PICKED)
    last = [id.removeprefix("file:") for id in asked.getlist("recent") if id.startswith("file:")]
    there = await asyncio.to_thread(lambda: list(_there(place, last)))
    return [Group(gettext("Opened last"), there[:MOST_RECENT]), *await _files(place, "")]


def _there(place: Located, paths: Iterable[str]) -> Iterator[Entry]:
    for path in paths:
        root = root_of(place.project, place.session, path)
        with suppress(browsing.Unreadable):
            file = browsing.inside(root.path, path)
            if file.is_file():
                yield _file(root, str(file.relative_to(root.path.resolve())))


def _lines(opened: str, line: str) -> list[Group]:
    if not opened or not line:
        return []
    return [
        Group(
            gettext("Lines"),
            [
                Entry(
                    "line",
                    gettext("Line %(line)s") % {"line": line},
                    "file",
                    "open",
                    f"{opened}:{line}",
                    opened,
                )
            ],
        )
    ]


async def _symbols_in(root: Root, query: str) -> Group:
    entries = await _symbols(find_symbols(root.path, query, MOST_PICKED), root)
    return Group(gettext("Symbols of %(name)s") % {"name": root.name or gettext("the project")}, entries)


async def _symbols_of(root: Root, file: Path, name: str, wanted: str) -> Group:
    """Those of a file: of its language server where one runs, else as the text tells."""
    runs = await service.serves(root.path, file) and await service.warm(root.path, file)
    entries = await _symbols(service.document_symbols(root.path, file), root, alike=True) if runs else []
    title = gettext("Symbols of %(name)s")
    if not entries:
        entries = await asyncio.to_thread(_outline, root, file)
        title = gettext("Symbols of %(name)s, read from its text without a language server")
    return Group(title % {"name": name}, [one for one in entries if wanted in one.label.lower()])


def _outline(root: Root, file: Path) -> list[Entry]:
    try:
        path = root.seen(file.relative_to(root.path.resolve()))
        found = texts.read(browsing.content(root.path, path))
    except browsing.Unreadable:
        return []
    return [_outlined(one, path) for one in outline(found.text, path)] if found else []


def _outlined(symbol: Outlined, path: str) -> Entry:
    place = f"{path}:{symbol.line}"
    return Entry(
        f"symbol:{place}:{symbol.name}",
        symbol.name,
        _OUTLINED_ICONS.get(symbol.kind, "function"),
        "open",
        f"{place}:{symbol.column}",
        f"{symbol.container} · {_line(symbol.line)}" if symbol.container else _line(symbol.line),
    )


async def _symbols(asked: Awaitable[Sequence[Symbol]], root: Root, *, alike: bool = False) -> list[Entry]:
    """Those of the language servers that run; none where they fail. `alike`: all are of one file, which needs
    not be said of each."""
    try:
        async with asyncio.timeout(SYMBOL_SECONDS):
            found = await asked
    except (Failed, TimeoutError) as problem:
        logger.info("no symbols for the palette: %s", problem)
        return []
    folder = await asyncio.to_thread(root.path.resolve)
    inside = (one for one in found if one.location.path.is_relative_to(folder))
    return [_symbol(one, root.seen(one.location.path.relative_to(folder)), alike) for one in inside]


def _symbol(symbol: Symbol, path: str, alike: bool) -> Entry:
    start = symbol.location.range.start
    place = f"{path}:{start.line + 1}"
    words = _line(start.line + 1) if alike else place
    icon = SYMBOL_ICONS.get(kind_of(symbol), "function")
    return Entry(
        f"symbol:{place}:{symbol.name}", symbol.name, icon, "open", f"{place}:{start.character + 1}", words
    )


def _texts(project: Project, query: str) -> Group:
    """The search over conversations for what was typed."""
    url = _search_url(project, query)
    label = gettext("Search what was said for “%(search)s”") % {"search": query}
    return Group(gettext("Conversations"), [Entry("go:texts", label, "search", "go", url)])


def _unasked(known: Sequence[Group], recent: Iterable[str]) -> Iterator[Group]:
    by_id = {entry.id: entry for group in known for entry in group.entries}
    last = [by_id[id] for id in dict.fromkeys(recent) if id in by_id]
    yield Group(gettext("Recent"), last)
    for group in known:
        yield Group(group.title, [entry for entry in group.entries if entry not in last][: group.unasked])


_LETTERS, _NONE = 6, 9


def _found(group: Group, query: str) -> tuple[int, list[Entry]]:
    """Of the group what fits, the best first, and how well the best does. What only has the letters is of use
    where nothing has the words."""
    scored = [(_distance(entry, query), entry) for entry in group.entries]
    worded = [it for it in scored if it[0] < _LETTERS]
    fitting = sorted(worded or [it for it in scored if it[0] < _NONE], key=lambda it: it[0])
    return (fitting[0][0] if fitting else _NONE), [entry for _, entry in fitting[: group.most]]


def _distance(entry: Entry, query: str) -> int:
    """0 for a label that is just that, then for one that begins so, has a word that does, has it anywhere,
    has each word; then for an entry whose other words have it, and for a label that has its letters in
    order."""
    label, rest = entry.label.lower(), f"{entry.detail} {entry.also}".lower()
    if label == query:
        return 0
    if label.startswith(query):
        return 1
    if f" {query}" in f" {label}" or f"/{query}" in rest:
        return 2
    if query in label:
        return 3
    words = query.split()
    if all(word in label for word in words):
        return 4
    if all(word in label or word in rest for word in words):
        return 5
    letters = iter(label)
    return (
        _LETTERS if len(query) > 1 and all(letter in letters for letter in query.replace(" ", "")) else _NONE
    )
