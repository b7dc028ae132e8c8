"""The servers under measurement: ours, and OpenCode from npm."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.npm import NotInstalled, installed

ROOT = Path(__file__).parent.parent
OPENCODE_VERSION = "1.18.33"
OPENAI_COMPATIBLE = "@ai-sdk/openai-compatible"
XDG = {"DATA": ".local/share", "STATE": ".local/state", "CONFIG": ".config", "CACHE": ".cache"}
STAY_OFFLINE = (
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_MODELS_FETCH",
)


@dataclass(frozen=True, slots=True)
class Target:
    """How to start one server. `{project}` and `{port}` in the command are filled in.

    It listens when `GET /global/health` answers 200.
    """

    name: str
    command: Sequence[str]
    importing: Sequence[str]
    """The command that takes over a conversation; the file comes last."""
    environ: Mapping[str, str] = field(default_factory=dict)
    heavy_npm: str = OPENAI_COMPATIBLE
    """The provider package that takes the server's heaviest way to a model (ours: litellm)."""

    def argv(self, project: Path, port: int) -> list[str]:
        return [part.format(project=project, port=port) for part in self.command]


OURS = Target(
    "ours",
    [sys.executable, "-m", "opencode_web", "serve", "{project}", "--port", "{port}"],
    [sys.executable, "-m", "opencode_web", "import", "--yes"],
    {"PYTHONPATH": str(ROOT)},
    heavy_npm="@ai-sdk/groq",
)


def isolated(home: Path) -> dict[str, str]:
    """An environment in which a server finds and leaves nothing outside of `home`, which is made."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    kept["PATH"] += f"{os.pathsep}{Path(sys.executable).parent}"  # the same ripgrep for every server
    folders = {f"XDG_{kind}_HOME": str(home / place) for kind, place in XDG.items()}
    return {**kept, "HOME": str(home), "TMPDIR": str(temporary), **folders}


def opencode(binary: Path) -> Target:
    return Target(
        "OpenCode",
        [str(binary), "serve", "--port", "{port}", "--hostname", "127.0.0.1"],
        [str(binary), "import"],
        dict.fromkeys(STAY_OFFLINE, "1"),
    )


def install_opencode(environ: Mapping[str, str]) -> Path:
    """The program of the pinned npm package, in the user's cache folder. Raises NotInstalled."""
    modules = installed("opencode-ai", OPENCODE_VERSION, environ)
    binary = _working_binary(modules)
    if binary is None:
        raise NotInstalled("the npm package has no binary that runs on this machine")
    return binary


def _working_binary(modules: Path) -> Path | None:
    """The package has one binary per kind of processor; not each runs on each machine."""
    for binary in sorted(modules.glob("opencode-*/bin/opencode"), key=lambda path: len(str(path))):
        try:
            command = [str(binary), "--version"]
            subprocess.run(
                command, env=isolated(modules.parent / "home"), check=True, capture_output=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return binary
    return None
