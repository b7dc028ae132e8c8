"""The servers under measurement: ours, and OpenCode from npm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
OPENCODE_VERSION = "1.18.33"
OPENAI_COMPATIBLE = "@ai-sdk/openai-compatible"
INSTALL_SECONDS = 600
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
    environ: Mapping[str, str] = field(default_factory=dict)
    heavy_npm: str = OPENAI_COMPATIBLE
    """The provider package that takes the server's heaviest way to a model (ours: litellm)."""

    def argv(self, project: Path, port: int) -> list[str]:
        return [part.format(project=project, port=port) for part in self.command]


OURS = Target(
    "ours",
    [sys.executable, "-m", "opencode_web", "serve", "{project}", "--port", "{port}"],
    {"PYTHONPATH": str(ROOT)},
    heavy_npm="@ai-sdk/groq",
)


def isolated(home: Path) -> dict[str, str]:
    """An environment in which a server finds and leaves nothing outside of `home`, which is made."""
    temporary = home / "tmp"
    temporary.mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    folders = {f"XDG_{kind}_HOME": str(home / place) for kind, place in XDG.items()}
    return {**kept, "HOME": str(home), "TMPDIR": str(temporary), **folders}


class NotInstalled(Exception):
    """OpenCode could not be installed; the text says why."""


def opencode(binary: Path) -> Target:
    return Target(
        "OpenCode",
        [str(binary), "serve", "--port", "{port}", "--hostname", "127.0.0.1"],
        dict.fromkeys(STAY_OFFLINE, "1"),
    )


def install_opencode() -> Path:
    """The binary of the pinned npm package, installed into the user's cache folder when it is not there."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "opencode-web-bench" / f"opencode-{OPENCODE_VERSION}"
    binary = _working_binary(folder)
    if binary is None:
        _npm_install(folder)
        binary = _working_binary(folder)
    if binary is None:
        raise NotInstalled("the npm package has no binary that runs on this machine")
    return binary


def _npm_install(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not on PATH")
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(folder)]
    command = [npm, "install", *options, f"opencode-ai@{OPENCODE_VERSION}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"npm took longer than {INSTALL_SECONDS} s") from error
    except subprocess.CalledProcessError as error:
        raise NotInstalled(f"npm failed: {error.stderr.strip()[-500:]}") from error


def _working_binary(folder: Path) -> Path | None:
    """The package has one binary per kind of processor; not each runs on each machine."""
    for binary in sorted(
        folder.glob("node_modules/opencode-*/bin/opencode"), key=lambda path: len(str(path))
    ):
        try:
            command = [str(binary), "--version"]
            subprocess.run(
                command, env=isolated(folder / "home"), check=True, capture_output=True, timeout=60
            )
        except (OSError, subprocess.SubprocessError):
            continue
        return binary
    return None
