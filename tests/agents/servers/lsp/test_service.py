"""The service: servers are found, started once, told, kept, ended and started again by need."""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agents.servers.lsp.service import Service
from agents.servers.lsp.types import Failed, ServerState, Update
from agents.toolkit.sandbox import probe
from sessions.core import bus
from tests.programs import pypi

SPELLER = str(Path(__file__).with_name("speller.py"))
WAIT = 30.0
LONG = 3600.0


class Place:
    """A project with a server that spells, for `*.say`; `told` is what listeners were told."""

    def __init__(self, folder: Path, configure: Callable[[Any], None], most: int, idle: float) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        self.starts_file = folder / "starts"
        self.service = Service(most=most, idle=idle)
        self.told: list[Update] = []
        self._configure = configure
        self.service.listen(self.told.append)
        self.configure(speller=self.speller())

    def configure(self, **servers: Any) -> None:
        self._configure({"lsp": servers or False})

    def speller(self, *arguments: str) -> dict[str, Any]:
        command = [sys.executable, "-I", "-S", SPELLER, str(self.starts_file), *arguments]
        return {"command": command, "extensions": [".say"]}

    def write(self, name: str, text: str) -> Path:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    async def said(self, name: str, text: str | None = None, **options: Any) -> list[str]:
        """The messages about a file, written with this text."""
        file = self.folder / name if text is None else self.write(name, text)
        found = await self.service.touch(self.folder, file, wait=WAIT, **options)
        return [one.message for one in found]

    @property
    def starts(self) -> int:
        return len(self.starts_file.read_text().splitlines()) if self.starts_file.exists() else 0

    def states(self) -> list[ServerState]:
        return self.service.statuses(self.folder)

    async def until(self, status: str, mailbox: bus.Subscription) -> ServerState:
        """A server, when one is so."""
        async with asyncio.timeout(WAIT):
            while not (found := [state for state in self.states() if state.status == status]):
                await mailbox.take()
        return found[0]


@pytest.fixture
async def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Callable[..., Place]]:
    places: list[Place] = []

    def configure(content: Any) -> None:
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(content))

    def make(most: int = 10, idle: float = LONG) -> Place:
        places.append(Place(tmp_path, configure, most, idle))
        return places[-1]

    yield make
    for place in places:
        await place.service.close()


@pytest.fixture
def place(made: Callable[..., Place]) -> Place:
    return made()


async def test_an_error_is_said_and_goes_with_its_repair(place: Place) -> None:
    assert await place.said("a.say", "right\nwrong one") == ["wrong one"]
    known = place.service.current(place.folder)
    assert [(path.name, len(found)) for path, found in known.items()] == [("a.say", 1)]
    assert await place.said("a.say", "right") == []
    assert place.service.current(place.folder) == {}
    assert [update.diagnostics != () for update in place.told] == [True, False]
    assert place.told[0].content == b"right\nwrong one"


async def test_real_servers_look_at_one_file_side_by_side(place: Place, user_environ: dict[str, str]) -> None:
    ruff = Path(sys.executable).with_name("ruff")
    types = pypi("basedpyright", "basedpyright-langserver", user_environ)
    commands = {"ruff": [str(ruff), "server"], "basedpyright": [str(types), "--stdio"]}
    place.configure(**{name: {"command": command} for name, command in commands.items()})
    file = place.write("a.py", "import os\n\ncount: int = 'many'\n")
    found = await place.service.touch(place.folder, file, wait=WAIT)
    said = {(one.server, one.severity, one.code) for one in found}
    assert {("ruff", 2, "F401"), ("basedpyright", 1, "reportAssignmentType")} <= said
    assert {state.status for state in place.states()} == {"connected"}
    assert await place.service.warm(place.folder, file)
    (count,) = await place.service.document_symbols(place.folder, file)
    assert (count.name, count.location.range.start.line) == ("count", 2)
    assert "count" in {symbol.name for symbol in await place.service.symbols(place.folder, "count")}
    file.write_text("count: int = 1\n")
    assert await place.service.touch(place.folder, file, wait=WAIT) == ()


@pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
async def test_one_that_is_confined_looks_and_changes_nothing(
    place: Place, user_environ: dict[str, str]
) -> None:
    types = pypi("basedpyright", "basedpyright-langserver", user_environ)
    place.configure(basedpyright={"command": [str(types), "--stdio"], "sandbox": True})
    file = place.write("a.py", "count: int = 'many'\n")
    found = await place.service.touch(place.folder, file, wait=WAIT)
    assert [one.code for one in found] == ["reportAssignmentType"]
    place.write("speller.py", Path(SPELLER).read_text())
    command = [sys.executable, "-I", "-S", "speller.py", str(place.starts_file)]
    place.configure(speller={**place.speller(), "command": command, "sandbox": True})
    assert await place.said("a.say", "wrong") == ["wrong"]
    assert place.starts == 0, "what it wrote into a file of the temporary folder is in one of its own"


async def test_many_touches_at_once_start_one_process(place: Place) -> None:
    await asyncio.gather(*(place.said(f"{number}.say", "wrong") for number in range(20)))
    assert place.starts == 1
    assert len(place.service.current(place.folder)) == 20


async def test_off_means_that_nothing_starts_and_what_runs_ends(place: Place) -> None:
    place.configure()
    assert await place.said("a.say", "wrong") == []
    assert not await place.service.serves(place.folder)
    assert place.starts == 0
    place.configure(speller=place.speller())
    assert await place.service.serves(place.folder, place.folder / "a.say")
    await place.said("a.say", "wrong")
    place.configure()
    assert place.states() == []
    await place.service.renew(place.folder)
    assert place.service.current(place.folder) == {}


async def test_without_waiting_the_file_is_told_all_the_same(place: Place) -> None:
    async with bus.subscribe() as mailbox:
        file = place.write("a.say", "wrong")
        assert await place.service.touch(place.folder, file) == ()
        await place.until("connected", mailbox)
        assert [one.message for one in await place.service.touch(place.folder, file, wait=WAIT)] == ["wrong"]
    assert place.starts == 1


async def test_a_start_that_takes_longer_than_the_wait_goes_on(place: Place) -> None:
    file = place.write("a.say", "wrong")
    async with bus.subscribe() as mailbox:
        assert await place.service.touch(place.folder, file, wait=0.001) == ()
        await place.until("connected", mailbox)
    await place.said("b.say", "right")
    assert place.starts == 1
    assert [path.name for path in place.service.current(place.folder)] == ["a.say"]


async def test_content_that_is_not_on_the_disk_is_looked_at(place: Place) -> None:
    place.write("a.say", "right")
    assert await place.said("a.say", content=b"wrong, staged") == ["wrong, staged"]
    assert await place.said("a.say") == []


async def test_a_file_that_is_gone_has_no_problems(place: Place) -> None:
    await place.said("a.say", "wrong")
    (place.folder / "a.say").unlink()
    assert await place.said("a.say") == []
    assert place.service.current(place.folder) == {}


async def test_a_file_outside_of_the_project_is_nobodys(place: Place, tmp_path: Path) -> None:
    (tmp_path / "b.say").write_text("wrong")
    assert await place.service.touch(place.folder, tmp_path / "b.say", wait=WAIT) == ()
    assert place.starts == 0


async def test_a_server_that_cannot_start_is_left_alone_until_someone_retries(place: Place) -> None:
    place.configure(speller=place.speller("a part of it is missing"))
    assert await place.said("a.say", "wrong") == []
    assert await place.said("a.say", "wrong") == []
    (state,) = place.states()
    assert (state.status, place.starts) == ("error", 1)
    assert "a part of it is missing" in state.reason
    await place.service.retry(place.folder, "speller", state.root)
    assert (place.states()[0].status, place.starts) == ("error", 2)


async def test_one_that_is_needed_while_it_ends_for_a_retry_runs(place: Place, tmp_path: Path) -> None:
    ends = tmp_path / "ends"
    place.configure(speller=place.speller() | {"env": {"SPELLER_ENDS": str(ends)}})
    assert await place.said("a.say", "wrong") == ["wrong"]
    (state,) = place.states()
    async with bus.subscribe() as mailbox:
        again = asyncio.create_task(place.service.retry(place.folder, "speller", state.root))
        await place.until("idle", mailbox)
        assert await place.said("a.say", "still wrong") == ["still wrong"]
        ends.touch()
        await again
    assert (place.states()[0].status, place.starts) == ("connected", 2)


async def test_a_retry_while_it_starts_leaves_one_process(place: Place) -> None:
    file = place.write("a.say", "wrong")
    async with bus.subscribe() as mailbox:
        assert await place.service.touch(place.folder, file) == ()
        state = await place.until("starting", mailbox)
        again = asyncio.create_task(place.service.retry(place.folder, "speller", state.root))
        await place.until("connected", mailbox)
        await asyncio.gather(again, *(place.said(f"{name}.say", "ok") for name in "bcd"))
    assert (place.states()[0].status, place.starts <= 2) == ("connected", True)


async def test_a_folder_that_is_disposed_of_begins_anew(place: Place) -> None:
    await place.said("a.say", "ok\n")
    await place.service.dispose(place.folder)
    assert place.service.statuses(place.folder) == []
    await place.said("a.say", "ok\n")
    assert place.starts == 2
    await place.service.dispose(None)
    assert place.service.statuses(place.folder) == []


async def test_a_new_command_counts_at_once(place: Place) -> None:
    place.configure(speller=place.speller("broken"))
    await place.said("a.say", "wrong")
    place.configure(speller=place.speller())
    assert await place.said("a.say", "wrong") == ["wrong"]
    assert [state.status for state in place.states()] == ["connected"]


async def test_a_command_that_is_not_there_is_told(place: Place) -> None:
    place.configure(speller={"command": ["/no/such/program"], "extensions": [".say"]})
    assert await place.said("a.say", "wrong") == []
    (state,) = place.states()
    assert (state.status, state.id) == ("missing", "speller")
    assert "/no/such/program" in state.reason
    with pytest.raises(Failed, match="/no/such/program"):
        await place.service.document_symbols(place.folder, place.folder / "a.say")


async def test_one_that_dies_starts_again_but_not_for_ever(place: Place) -> None:
    for count in (1, 2):
        assert await place.said("a.say", "die") == []
        assert (place.states()[0].status, place.starts) == ("idle", count)
    assert await place.said("a.say", "wrong") == ["wrong"]
    await place.said("a.say", "die")
    (state,) = place.states()
    assert (state.status, place.starts) == ("error", 3)
    assert "it reads of death" in "\n".join(state.log)
    assert await place.said("a.say", "wrong") == []
    await place.service.retry(place.folder, "speller", state.root)
    assert await place.said("a.say", "wrong") == ["wrong"]


async def test_one_that_dies_is_not_an_error_of_the_question(place: Place) -> None:
    place.write("a.say", "die")
    with pytest.raises(Failed, match="speller"):
        await place.service.ask(place.folder, place.folder / "a.say", "textDocument/hover", {}, WAIT)


async def test_thirty_roots_share_the_places_there_are(made: Callable[..., Place]) -> None:
    place = made(most=3)
    ruff = [str(Path(sys.executable).with_name("ruff")), "server"]
    place.configure(speller=place.speller() | {"disabled": True}, ruff={"command": ruff})
    files = [place.write(f"{number}/a.py", "import os\n") for number in range(30)]
    for file in files:
        (file.parent / "pyproject.toml").touch()
    touched = (place.service.touch(place.folder, file, wait=WAIT) for file in files)
    found = await asyncio.gather(*touched)
    assert all("F401" in {one.code for one in said} for said in found)
    states = [state for state in place.states() if state.id == "ruff"]
    assert len(states) == len({state.root for state in states}) == 30
    assert Counter(state.status for state in states) == {"connected": 3, "idle": 27}
    assert {state.reason for state in states if state.status == "idle"} == {
        "Ended to make room: at most 3 run at once."
    }
    assert len(place.service.current(place.folder)) == 30, "what was said before stays known"


async def test_one_that_nobody_needs_ends_and_comes_back(made: Callable[..., Place]) -> None:
    place = made(idle=0.01)
    async with bus.subscribe() as mailbox:
        assert await place.said("a.say", "wrong") == ["wrong"]
        state = await place.until("idle", mailbox)
    assert "not needed" in state.reason
    assert len(place.service.current(place.folder)) == 1
    assert await place.said("b.say", "right") == []
    assert place.starts == 2
    assert place.service.current(place.folder) == {}, "a new process says anew what there is"


async def test_pages_are_told_when_a_server_is_otherwise(place: Place) -> None:
    async with bus.subscribe(wants=lambda event: event.type == "lsp.updated") as mailbox:
        await place.said("a.say", "right")
        events = await mailbox.take(WAIT)
    assert {(event.type, event.directory) for event in events} == {("lsp.updated", str(place.folder))}
    assert events[0].properties == {}
