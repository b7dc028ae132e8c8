"""MCP servers, language servers and clients of models from npm and PyPI: programs that nobody here wrote,
each installed once into the user's cache. clangd and gopls come from apt (`make machine`).

A test that wants one that cannot be had fails and says why: what is done with servers is tested with servers.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.npm import INSTALL_SECONDS, NotInstalled, installed

NPM = {
    "typescript-language-server": ("6.0.2", "typescript@5.9.3"),
    "bash-language-server": ("5.8.1",),
    "yaml-language-server": ("2.0.0",),
    "vscode-langservers-extracted": ("4.10.0", "eslint@9.39.5"),
    "svelte-language-server": ("0.18.4", "typescript@5.9.3"),
    "@biomejs/biome": ("2.6.8",),
    "@tailwindcss/language-server": ("0.16.0",),
    "stylelint-lsp": ("1.2.4",),
    "graphql-language-service-cli": ("3.5.0",),
    "@prisma/language-server": ("31.12.10",),
    "pyright": ("1.1.414",),
    "intelephense": ("1.18.5",),
    "vim-language-server": ("2.3.1",),
    "deno": ("2.9.6",),
    "dockerfile-language-server-nodejs": ("0.15.0",),
    "@bufbuild/buf": ("1.75.0",),
    "@postgres-language-server/cli": ("0.25.5",),
    "@rescript/language-server": ("1.58.0",),
    "@modelcontextprotocol/server-filesystem": ("2026.8.31",),
    "@modelcontextprotocol/server-everything": ("2026.8.31",),
    "@modelcontextprotocol/server-memory": ("2026.8.31",),
    "@modelcontextprotocol/server-sequential-thinking": ("2026.8.31",),
    "@modelcontextprotocol/ext-apps": ("2.0.4",),
    "axe-core": ("4.14.1",),
    "bun": ("1.4.5",),
    "@modelcontextprotocol/inspector": ("2.12.0",),
    "acpx": ("0.19.1",),
}
"""The version of each package, and what is wanted beside it."""

AXE_SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"

PYPI = {
    "basedpyright": ("1.40.2",),
    "pyrefly": ("1.4.1",),
    "ty": ("0.0.107",),
    "tombi": ("1.9.6",),
    "mcp-server-fetch": ("2026.10.24",),
    "mcp-server-git": ("2026.10.19",),
    "mcp-server-time": ("2026.10.19",),
    "moto": ("5.2.5", "moto[server]==5.2.5"),
    "openai": (
        "3.57.0",
        "anthropic==2.14.0",
        "google-genai==3.6.1",
        "groq==1.7.0",
        "mistralai==3.7.0",
        "openrouter==1.3.84",
        "xai-sdk==1.21.0",
    ),
}


def npm(package: str, program: str, environ: Mapping[str, str]) -> Path:
    """A program of a package from npm; fails without it. `environ` is the user's."""
    return _modules(package, environ) / ".bin" / program


def bun(environ: Mapping[str, str]) -> Path:
    """The program that is in the package for this machine; fails without it."""
    found = sorted((_modules("bun", environ) / "@oven").glob("*/bin/bun"))
    if not found:
        pytest.fail("there is no Bun for this machine")
    return found[0]


def script(package: str, path: str, environ: Mapping[str, str]) -> list[str]:
    """The command of a program that is a script of a package from npm, run by Bun: what it was written for is
    a Node.js that not everybody has. Fails without it."""
    return [str(bun(environ)), str(_modules(package, environ) / package / path)]


def axe(environ: Mapping[str, str]) -> str:
    """The script of axe-core, which finds what bars people from a page; fails when it is another one."""
    script = (_modules("axe-core", environ) / "axe-core" / "axe.min.js").read_bytes()
    assert hashlib.sha256(script).hexdigest() == AXE_SHA256
    return script.decode()


def apps(environ: Mapping[str, str]) -> str:
    """The module by which apps of MCP servers speak, with all that it needs."""
    package = "@modelcontextprotocol/ext-apps"
    return (_modules(package, environ) / package / "dist" / "src" / "app-with-deps.js").read_text()


def _modules(package: str, environ: Mapping[str, str]) -> Path:
    version, *beside = NPM[package]
    try:
        return installed(package, version, environ, *beside)
    except NotInstalled as error:
        pytest.fail(f"{package} could not be installed: {error}")


def everything(environ: Mapping[str, str]) -> dict[str, Any]:
    """An MCP server that has all there is in the protocol, as the configuration names it."""
    program = npm("@modelcontextprotocol/server-everything", "mcp-server-everything", environ)
    return {"type": "local", "command": [str(program)], "environment": {"PATH": environ["PATH"]}}


def pypi(package: str, program: str, environ: Mapping[str, str]) -> Path:
    """A program of a package from PyPI, in an environment of its own; fails without it."""
    cache = Path(environ.get("XDG_CACHE_HOME") or Path(environ["HOME"], ".cache"))
    version, *beside = PYPI[package]
    folder = cache / "opencode-web-bench" / f"{package}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other test processes want the same
        if not (folder / "installed").exists():
            _install(folder, [f"{package}=={version}", *beside], environ)
            (folder / "installed").touch()
    return folder / "venv" / "bin" / program


def apt(program: str) -> Path:
    """A program that `make machine` installs; fails without it."""
    found = shutil.which(program)
    assert found, f"{program} is not installed: run `make machine`"
    return Path(found)


def _install(folder: Path, wanted: Sequence[str], environ: Mapping[str, str]) -> None:
    python = folder / "venv" / "bin" / "python"
    for command in (
        [sys.executable, "-m", "venv", "--clear", str(folder / "venv")],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted],
    ):
        try:
            subprocess.run(
                command,
                env=dict(environ),
                check=True,
                capture_output=True,
                text=True,
                timeout=INSTALL_SECONDS,
            )
        except subprocess.TimeoutExpired:
            pytest.fail(f"{wanted[0]} could not be installed: it took longer than {INSTALL_SECONDS} s")
        except subprocess.CalledProcessError as error:
            pytest.fail(f"{wanted[0]} could not be installed: {error.stderr.strip()[-500:]}")


def without_javascript(folder: Path) -> dict[str, str]:
    """An environment whose PATH has git and shells, and neither Bun nor Node.js."""
    folder.mkdir()
    for name in ("git", "sh", "bash"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(folder)}
