from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.loopback.openai import OpenAIServer
from tests.protocol.reference import Reference
from tests.protocol.reference import reference as ask
from tests.protocol.served import Script, Served
from tests.server import Server, model_config

ASKED = {"*": "allow", "bash": {"*": "allow", "touch *": "ask"}, "edit": {"*": "allow", "asked*": "ask"}}


@pytest.fixture(scope="session")
def reference(user_environ: dict[str, str]) -> Reference:
    """OpenCode's own document; see `reference.reference`."""
    return ask(user_environ)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def served(reference: Reference, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    """The shared server; tests make sessions of their own and leave the project's files as they were."""
    home, project = tmp_path_factory.mktemp("home"), repository(tmp_path_factory.mktemp("project"))
    script = Script()
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, permission=ASKED))
        await asyncio.to_thread(server.start)
        try:
            async with server.client() as client:
                served = Served(server, client, model, script, reference)
                async with served.heard.listening(served.http):
                    yield served
                await served.http.aclose()
                assert not served.heard.problems
        finally:
            await asyncio.to_thread(server.stop)


def repository(path: Path) -> Path:
    """A git repository with one commit on `main` and a folder in it."""
    (path / "src").mkdir()
    (path / "hello.py").write_text("def hello():\n    return 'hello'\n")
    (path / "src" / "app.py").write_text("from hello import hello\n\nprint(hello())\n")
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *identity, *arguments], cwd=path, check=True)
    return path
