from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.protocol.served import Script
from tests.server import PASSWORD, Server, model_config, running

PERMISSION = {"*": "allow", "bash": "ask", "edit": "ask"}


@dataclass
class Stage:
    """A server with a model behind it, and what an agent of an editor that uses it is started with."""

    client: Client
    model: OpenAIServer
    script: Script
    project: Path
    environ: Mapping[str, str]
    server: Server

    def plays(self, *turns: Turn) -> None:
        """What the model answers next; afterwards "Done."."""
        self.script.turns.clear()
        self.script.turns.extend(turns)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    """Shared by all tests here; edits and shell commands need a permission in it."""
    home, project = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("project")
    script = Script()
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission=PERMISSION)
        models = config["provider"]["fake"]["models"]
        models["other"] = {**models["fake"], "name": "Other", "variants": {"high": {}}}
        server = Server(home, project, config)
        async with running(server) as client:
            environ = {**server.environment(), "OPENCODE_BASE_URL": server.url, "HOME": str(home)}
            assert environ["OPENCODE_SERVER_PASSWORD"] == PASSWORD
            yield Stage(client, model, script, project, environ, server)
