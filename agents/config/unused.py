"""Files that OpenCode or other programs read, and this one does not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from agents.config.loader import project_sources, user_sources
from sessions.core import paths

_CODE = "is not run: plugins and tools are Python here (docs/plugins.md)"
_TERMINAL = "is of OpenCode's terminal, and not used here"
_BESIDE = {
    **{
        f"{folder}/*.{kind}": _CODE
        for folder in ("plugin", "plugins", "tool", "tools")
        for kind in ("ts", "js")
    },
    "themes/*.json": _TERMINAL,
}
_OTHERS = {
    ".claude/commands": "is not read, as in OpenCode: commands lie in .opencode/commands",
    ".claude/agents": "is not read, as in OpenCode: agents lie in .opencode/agents",
}


def unused(directory: Path, environ: Mapping[str, str] = os.environ) -> Iterator[tuple[Path, str]]:
    """What is there for a folder and left out, and why. Reads folders."""
    sources = [*user_sources(environ), *project_sources(directory, environ)]
    for source in (source for source in sources if source.markdown):
        for pattern, why in _BESIDE.items():
            yield from ((path, why) for path in sorted(source.path.glob(pattern)))
        if not source.own and (source.path / "tui.json").exists():
            yield source.path / "tui.json", "is not used: keys are those of your own tui.json"
    for folder in (paths.home(environ), directory):
        yield from ((folder / name, why) for name, why in _OTHERS.items() if (folder / name).is_dir())
