"""An MCP server with apps, and their documents: beside this file, one a tool."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIRST = "weather"
"""The app whose server has more tools for it."""
SAME = {"reaching": FIRST}
"""Apps with the document of another."""


def server(folder: Path, **more: Any) -> dict[str, Any]:
    """Its configuration. `folder` gets the documents, and what it is asked for."""
    sources = {path.stem: path for path in sorted(HERE.glob("*.html"))}
    sources |= {name: sources[other] for name, other in SAME.items()}
    names = [FIRST, *sorted(sources.keys() - {FIRST})]
    documents = [str(shutil.copy(sources[name], folder / f"{name}.html")) for name in names]
    return {"type": "local", "command": [sys.executable, str(HERE / "server.py"), *documents], **more}


def asked(folder: Path) -> list[dict[str, Any]]:
    """What the server was asked for, in order."""
    return [json.loads(line) for line in (folder / "asked.log").read_text().splitlines()]
