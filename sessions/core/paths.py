"""Where state and configuration live (XDG Base Directory Specification 0.8).

The data directory is mode 700 and the secret mode 600: whoever reads the secret may run commands as the
user.
"""

from __future__ import annotations

import logging
import os
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from sessions.core import variables
from sessions.core.files import PRIVATE, create_file, replace_file

logger = logging.getLogger(__name__)

SHORTEST_SECRET = 32


def data_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """`$XDG_DATA_HOME/opencode-web`, created private when it is missing."""
    path = data_home(environ) / "opencode-web"
    _private_directory(path)
    return path


def database(environ: Mapping[str, str] = os.environ) -> Path:
    return data_directory(environ) / "db.sqlite3"


def snapshots(environ: Mapping[str, str] = os.environ) -> Path:
    return _below(environ, "snapshots")


def copies(environ: Mapping[str, str] = os.environ) -> Path:
    """Copies of the database (docs/decisions/0021)."""
    return _below(environ, "copies")


def tool_output(environ: Mapping[str, str] = os.environ) -> Path:
    """Managed Tool Output Files."""
    return _below(environ, "tool-output")


def plans(environ: Mapping[str, str] = os.environ) -> Path:
    """Plan files of sessions outside of a git repository."""
    return _below(environ, "plans")


def worktrees(environ: Mapping[str, str] = os.environ) -> Path:
    """Git worktrees of forks (docs/decisions/0012)."""
    return _below(environ, "worktrees")


def skills(environ: Mapping[str, str] = os.environ) -> Path:
    """Skills that were fetched from addresses."""
    return _below(environ, "skills")


def servers(environ: Mapping[str, str] = os.environ) -> Path:
    """Language servers that were installed by a click."""
    return _below(environ, "servers")


def javascript(environ: Mapping[str, str] = os.environ) -> Path:
    """Plugins and tools of OpenCode as they were trusted, and the packages that they use."""
    return _below(environ, "javascript")


def workers(environ: Mapping[str, str] = os.environ) -> Path:
    """Who holds leases, and lives (docs/decisions/0019)."""
    return _below(environ, "workers")


def parked(environ: Mapping[str, str] = os.environ) -> Path:
    """What was parked of projects before, so that only what is new is sent (docs/decisions/0053)."""
    return _below(environ, "parked")


def logs(environ: Mapping[str, str] = os.environ) -> Path:
    return _below(environ, "log")


def secret(environ: Mapping[str, str] = os.environ) -> str:
    """The server's secret: the one that the environment names, else 256 random bits in URL-safe text, made at
    the first call and kept. Raises ImproperlyConfigured for one that is no secret."""
    if given := variables.SECRET.read(environ):
        if len(given) < SHORTEST_SECRET:
            raise ImproperlyConfigured(
                f"{variables.SECRET.name} is too short: {SHORTEST_SECRET} letters at least, by chance"
            )
        return given
    path = data_directory(environ) / "secret"
    try:
        text = path.read_text().strip()
    except FileNotFoundError:
        return _create_secret(path)
    if stat.S_IMODE(path.stat().st_mode) != PRIVATE:
        logger.warning("%s was readable by others; its mode is 600 again", path)
        path.chmod(PRIVATE)
    return text or _create_secret(path, replace=True)


def identity(environ: Mapping[str, str] = os.environ) -> str:
    """What tells a data folder from others, in hexadecimal; made at the first call."""
    path = data_directory(environ) / "identity"
    create_file(path, secrets.token_hex(16).encode(), PRIVATE)
    return path.read_text().strip()


def trust(environ: Mapping[str, str] = os.environ) -> Path:
    """What the user has trusted of each project (docs/decisions/0007)."""
    return data_directory(environ) / "trust.json"


def unused(environ: Mapping[str, str] = os.environ) -> Path:
    """What a person was told is not used of what a folder has, and has dismissed."""
    return data_directory(environ) / "unused.json"


def config_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """OpenCode's own configuration directory, which we share; it may be missing."""
    return _home_of(environ, variables.CONFIG_HOME) / "opencode"


def config_directories(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """All of the person's own: that one, `~/.opencode`, and the one that the environment names. What is in a
    later one counts over what is in those before."""
    found = [config_directory(environ), home(environ) / ".opencode"]
    if named := variables.CONFIG_DIR.read(environ):
        found.append(named_path(named, environ))
    return list(dict.fromkeys(found))


def managed_config_directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Of whoever looks after the machine; it may be missing."""
    on_macos = sys.platform == "darwin" and not environ.get(variables.MANAGED_CONFIG_DIR.name)
    return Path(
        "/Library/Application Support/opencode" if on_macos else variables.MANAGED_CONFIG_DIR.read(environ)
    )


def named_path(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """As a person names one in the environment: `~/` is the home folder."""
    return home(environ) / name[2:] if name.startswith("~/") else Path(name).absolute()


def auth_files(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The files that may hold provider keys: ours, which wins, then OpenCode's own (only ever read)."""
    return [data_directory(environ) / "auth.json", data_home(environ) / "opencode" / "auth.json"]


def home(environ: Mapping[str, str] = os.environ) -> Path:
    return Path(environ.get("HOME") or Path.home())


def data_home(environ: Mapping[str, str] = os.environ) -> Path:
    """Where programs keep their data; it may be missing."""
    return _home_of(environ, variables.DATA_HOME)


def normalized(path: str) -> str:
    """As folders are named in rows: without `..` and `.`, slashes that are doubled and the last one; links
    stay."""
    return os.path.normpath(path).replace("//", "/")  # normpath leaves two in front


def _home_of(environ: Mapping[str, str], variable: variables.Variable) -> Path:
    """A base directory; a relative value is to be ignored (XDG, "Environment variables")."""
    value = Path(variable.read(environ))
    return value if value.is_absolute() else home(environ) / variable.default.removeprefix("~/")


def _below(environ: Mapping[str, str], name: str) -> Path:
    path = data_directory(environ) / name
    _private_directory(path)
    return path


def _private_directory(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        path.chmod(0o700)


def _create_secret(path: Path, replace: bool = False) -> str:
    """Of two servers starting at once, the first one's stays."""
    text = secrets.token_urlsafe(32).encode()
    if replace:
        replace_file(path, text, PRIVATE)
    else:
        create_file(path, text, PRIVATE)
    return path.read_text().strip()


_WRITABLE = ":rw"


def access(given: str) -> tuple[str, bool]:
    """A path as a person types it, and whether `:rw` at its end says that the folder may be written."""
    path = given.strip().removesuffix(_WRITABLE)
    return path, path != given.strip()
