"""What docs/team.md says of backups with a PostgreSQL is done, and the server goes on from it elsewhere."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.postgres_server import PostgresServer
from tests.runtime.conftest import home, project
from tests.server import ROOT, Server, model_config, running

__all__ = ["home", "project"]

WRITE = ToolUse("write", {"filePath": "new.txt", "content": "new\n"})


def commands() -> list[str]:
    """To dump the rows, to pack the files, to put the rows into a database."""
    page = re.sub(r"\\\n\s*", "", (ROOT / "docs/team.md").read_text())
    return re.findall(r"^    ((?:pg_dump|tar) .*)$", page, re.M) + re.findall(r"`(pg_restore .*?)`", page)


async def test_rows_and_files_go_to_another_machine(
    postgres: PostgresServer, home: Path, project: Path, tmp_path: Path
) -> None:
    dump, pack, restore = commands()
    there = tmp_path / "there"
    (there / ".local/share").mkdir(parents=True)
    for name in ("rows", "moved"):
        postgres.make(name)

    def do(command: str) -> None:
        path = f"{postgres.programs}:{os.environ['PATH']}"
        subprocess.run(command, shell=True, check=True, cwd=tmp_path, env={**os.environ, "PATH": path})  # noqa: S602

    turns = iter([Turn(tools=[WRITE]), Turn(text="Written.")])
    async with OpenAIServer(lambda _: next(turns)) as model:
        config = model_config(model.base_url)
        before = Server(home, project, config, {"OPENCODE_WEB_DATABASE": postgres.url("rows")})
        async with running(before) as client:
            session = await client.create_session("It moves")
            await client.prompt(session["id"], "Write it.")
            said = await client.messages(session["id"])
        rows, moved = (f"'{postgres.url(name)}'" for name in ("rows", "moved"))
        await asyncio.to_thread(do, dump.replace(" opencode", f" {rows}"))
        await asyncio.to_thread(do, pack.replace("/var/lib/opencode", str(before.data.parent)))
        await asyncio.to_thread(do, f"tar --extract --file=data.tar.gz --directory={there}/.local/share")
        await asyncio.to_thread(do, restore.replace("--dbname=opencode", f"--dbname={moved}"))

        after = Server(there, project, config, {"OPENCODE_WEB_DATABASE": postgres.url("moved")})
        async with running(after) as client:
            assert await client.messages(session["id"]) == said
            assert (project / "new.txt").exists()
            await client.revert(session["id"], said[0]["info"]["id"])
            assert not (project / "new.txt").exists(), "what undo needs came along"
