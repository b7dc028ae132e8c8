"""What of a project runs with its language servers waits for a person."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.agent import trust as state
from agents.config.trust.wants import Want
from agents.servers.lsp.service import Service
from tests.agents.servers.lsp.test_finding import program

RUFF = Path(sys.executable).with_name("ruff")
WAIT = 30.0


class Place:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.service = Service()

    async def touched(self, name: str) -> str:
        """The status of the server of a file that is there."""
        await self.service.touch(self.folder, self.folder / name, wait=WAIT)
        (state,) = (one for one in self.service.statuses(self.folder) if one.status != "missing")
        return state.status

    @property
    def asked(self) -> list[Want]:
        return state.untrusted(self.folder)

    def trust(self) -> None:
        state.trust(self.folder, state.fingerprint(self.asked))


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    """Where PATH leads to nothing but what runs scripts."""
    bin = tmp_path / "bin"
    bin.mkdir()
    monkeypatch.setenv("PATH", f"{bin}:/usr/bin:/bin")
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps({"lsp": True}))
    folder = tmp_path / "project"
    folder.mkdir()
    made = Place(folder)
    yield made
    await made.service.close()
    state.revoke(folder)


async def test_a_program_of_the_project_is_trusted_by_its_content(place: Place) -> None:
    (place.folder / "a.py").write_text("import os\n")
    own = Path(program(place.folder / ".venv" / "bin" / "ruff"))
    own.write_text(f'#!/bin/sh\nexec "{RUFF}" "$@"\n')
    assert place.asked == []
    assert await place.touched("a.py") == "held"
    (want,) = place.asked
    assert (want.name, [wish.detail for wish in want.wishes]) == (".venv/bin/ruff", [".venv/bin/ruff"])
    assert str(RUFF) in want.contents[0].text
    place.trust()
    assert await place.touched("a.py") == "connected"
    own.write_text(f'#!/bin/sh\nexec "{RUFF}" "$@" # changed\n')
    await place.service.close()
    assert await place.touched("a.py") == "held"
    assert [want.name for want in place.asked] == [".venv/bin/ruff"]


async def test_a_program_that_is_given_back_its_size_and_time_is_not_the_trusted_one(place: Place) -> None:
    (place.folder / "a.py").write_text("import os\n")
    own = Path(program(place.folder / ".venv" / "bin" / "ruff"))
    own.write_text(f'#!/bin/sh\nexec "{RUFF}" "$@" # one\n')
    assert await place.touched("a.py") == "held"
    place.trust()
    assert await place.touched("a.py") == "connected"
    was = own.stat()
    own.write_text(f'#!/bin/sh\nexec "{RUFF}" "$@" # two\n')
    os.utime(own, ns=(was.st_atime_ns, was.st_mtime_ns))
    await place.service.close()
    assert await place.touched("a.py") == "held"


async def test_what_was_shown_is_what_is_trusted(place: Place) -> None:
    own = Path(program(place.folder / "node_modules" / ".bin" / "yaml-language-server"))
    (place.folder / "a.yaml").touch()
    assert await place.touched("a.yaml") == "held"
    shown = state.fingerprint(place.asked)
    own.write_text("#!/bin/sh\nsomething else\n")
    with pytest.raises(state.Changed):
        state.trust(place.folder, shown)
    assert await place.touched("a.yaml") == "held"


async def test_a_server_that_runs_the_project_is_trusted_for_all_of_it(place: Place, tmp_path: Path) -> None:
    file = Path(program(tmp_path / "bin" / "svelteserver"))
    file.write_text(f'#!/bin/sh\nexec "{RUFF}" server\n')
    (place.folder / "a.svelte").touch()
    assert await place.touched("a.svelte") == "held"
    (want,) = place.asked
    assert [wish.words for wish in want.wishes] == ["Runs svelte.config.js"]
    place.trust()
    assert await place.touched("a.svelte") == "connected"
    (place.folder / "svelte.config.js").write_text("// new")
    await place.service.close()
    assert await place.touched("a.svelte") == "connected"
    assert place.asked == []
    assert [want.trusted for want in state.wants(place.folder)] == [True]
    state.revoke(place.folder)
    await place.service.close()
    assert await place.touched("a.svelte") == "held"


async def test_a_type_checker_waits_where_the_project_has_an_interpreter(
    place: Place, tmp_path: Path
) -> None:
    file = Path(program(tmp_path / "bin" / "basedpyright-langserver"))
    file.write_text(f'#!/bin/sh\nexec "{RUFF}" server\n')
    (place.folder / "a.py").touch()
    assert await place.touched("a.py") == "connected"
    program(place.folder / ".venv" / "bin" / "python")
    await place.service.close()
    assert await place.touched("a.py") == "held"


async def test_only_the_server_that_would_run_asks(place: Place, tmp_path: Path) -> None:
    for name in ("basedpyright-langserver", "pyright-langserver", "pyrefly"):
        program(tmp_path / "bin" / name)
    program(place.folder / ".venv" / "bin" / "python")
    (place.folder / "a.py").touch()
    assert await place.touched("a.py") == "held"
    assert [want.name for want in place.asked] == ["language server basedpyright"]


async def test_what_was_trusted_meanwhile_is_seen(place: Place) -> None:
    program(place.folder / "node_modules" / ".bin" / "yaml-language-server")
    (place.folder / "a.yaml").touch()
    assert await place.touched("a.yaml") == "held"
    place.trust()
    await place.service.renew(place.folder)
    assert [one.status for one in place.service.statuses(place.folder)] == ["idle"]
