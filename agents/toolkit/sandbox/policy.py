"""What a confined program may reach: folders to write in, what is out of sight, what nobody writes."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from agents.llm.known import LISTED
from sessions.core import paths
from sessions.core.platform import search_path

CACHES: Mapping[str, str] = {
    **{".cache": "", ".npm": "npm", ".cargo/registry": "cargo", ".cargo/git": "cargo", "go/pkg": "go"},
    **{
        ".gradle/caches": "gradle",
        ".m2/repository": "mvn",
        ".ivy2/cache": "sbt",
        ".nuget/packages": "dotnet",
    },
    **{".bun/install/cache": "bun", ".deno": "deno", ".local/share/pnpm": "pnpm", ".pnpm-store": "pnpm"},
    **{
        ".yarn/berry/cache": "yarn",
        ".gem": "gem",
        ".composer/cache": "composer",
        ".hex": "mix",
        ".mix": "mix",
    },
    **{".opam/download-cache": "opam", ".stack/pantry": "stack"},
}
"""Below the home folder: what package managers keep for every project, and which program would make it."""
SECRETS = (
    *(".ssh", ".aws", ".azure", ".kube", ".gnupg", ".config/gcloud", ".config/gh", ".config/op"),
    *(".netrc", ".git-credentials", ".config/git/credentials", ".docker/config.json", ".docker/run"),
    *(
        ".pypirc",
        ".npmrc",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".gem/credentials",
        ".vault-token",
    ),
    *(".password-store", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains"),
    *(".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/vivaldi"),
    *(".config/microsoft-edge", ".config/opera", ".thunderbird", "snap/firefox", "snap/chromium"),
    *(".cache/mozilla", ".cache/google-chrome", ".cache/chromium", ".cache/keyring"),
    *(".claude", ".claude.json", ".codex", ".gemini", ".config/github-copilot"),
)
"""Below the home folder: keys, passwords, cookies, and what other agents keep of their own."""
KNOWN_HOSTS = ".ssh/known_hosts"
RUN = "/run"
"""Where the sockets of the system are: docker, D-Bus, the agents of keys, the display."""
NAMES = (
    *("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/current-system"),
    "/run/opengl-driver",
)
"""What of it is no socket of a service, and is needed to resolve names or to find programs."""
GIT = ("hooks", "config", "config.worktree", "info", "commondir", "gitdir")
"""What of a git folder decides which programs git runs, and where it reads that."""
OWN = (
    *(".opencode", "opencode.json", "opencode.jsonc", ".claude", ".mcp.json", ".codex", ".gemini", ".cursor"),
    *(".vscode/tasks.json", ".vscode/launch.json", ".vscode/settings.json", ".envrc", ".idea"),
)
"""Below the workspace: what tells an agent or an editor what to run and to allow."""
VARIABLES = frozenset(
    {
        *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY"),
        *("WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST"),
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"),
        *("GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITHUB_COPILOT_TOKEN", "DATABASE_URL"),
        *("AZURE_API_KEY", "AZURE_OPENAI_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "VAULT_TOKEN"),
        *(name for provider in LISTED.values() for name in provider.env),
    }
)
"""Of the environment what is a key, or leads to a socket that is out of sight."""


_GIT = {
    "GIT_SSH_COMMAND": "echo 'Refused by the sandbox: SSH does not get out. Use the address of HTTPS, or run "
    "it `outside`.' >&2; false",
    "GIT_SSH_VARIANT": "ssh",
}
"""Else git says that the host does not exist (git(1), to which the arguments are added)."""


class CannotConfine(Exception):
    """A folder that no sandbox can be around; the text is for people and says why."""


@dataclass(frozen=True, slots=True)
class Policy:
    """`workspace` are the folders to write in, of which `held` is not written, whether it is there or not.
    `caches` may be written too. `hidden` is out of sight, `temporary` stands in for the system's temporary
    folders, and of what is there `shown` is read all the same. All are absolute and without links.
    """

    workspace: tuple[Path, ...]
    held: tuple[Path, ...]
    caches: tuple[Path, ...]
    hidden: tuple[Path, ...]
    shown: tuple[Path, ...]
    temporary: Path

    def missing(self, standing: Container[Path] = ()) -> list[Path]:
        """Of what is held the topmost that is not there: something has to stand in its place (`stand_in`), as
        it does already for those in `standing`."""
        found = (self._missing(path, standing) for path in self.held)
        return sorted({path for path in found if path is not None})

    def _missing(self, path: Path, standing: Container[Path]) -> Path | None:
        for place in (*reversed(path.parents), path):
            within = any(place.is_relative_to(root) for root in self.workspace)
            if within and (place in standing or not os.path.lexists(place)):
                return place
        return None


def policy(
    folders: Sequence[Path],
    temporary: Path,
    scratch: Sequence[Path] = (),
    write: Sequence[str] = (),
    read: Sequence[Path] = (),
    environ: Mapping[str, str] = os.environ,
) -> Policy:
    """Around the folders that a session works in. `scratch` are folders of its own elsewhere, `write` what
    the person allows besides (`~` is the home folder), `read` folders that are seen wherever they lie, and
    not written. Raises CannotConfine. Blocks.
    """
    home, roots = _home_and(folders, environ)
    for root in _around_home(home, roots):
        raise CannotConfine(
            f"{root} is, or has in it, your home folder: there is nothing to keep a program out of."
        )
    gits = [git for root in roots for git in git_folders(root)]
    held = [root / name for root in roots for name in OWN]
    held += [root / ".git" for root in roots if (root / ".git").is_file()]
    held += [git / name for git in gits for name in GIT]
    more = [path.resolve() for path in map(_expanded, write) if path.is_dir()]
    # The person's own configuration is not the project's, and counts without trust. This program is what
    # keeps the others in.
    ours = [folder.resolve() for folder in (*paths.config_directories(environ), Path(sys.prefix))]
    held += [folder for folder in ours if any(folder.is_relative_to(root) for root in (*roots, *more))]
    for folder in (*roots, *more):
        search_path.leave_out(str(folder))
    added = [path for path in read if path.is_dir() and path.resolve() == path]  # no link is in its place now
    data = [paths.data_home(environ) / name for name in ("opencode-web", "opencode")]
    hidden = [*data, *(home / name for name in SECRETS), Path(RUN)]
    own = [Path(sys.prefix), Path(sys.base_prefix)]  # programs of this environment are in everybody's path
    lent = [path for folder in (paths.tool_output, paths.skills) if (path := _made(folder, environ))]
    shown = [home / KNOWN_HOSTS, *lent, *map(Path, NAMES), *own, *added]
    return Policy(
        workspace=_distinct([*roots, *gits, *more, *(path.resolve() for path in scratch)]),
        held=tuple(path for path in dict.fromkeys((*held, *added)) if not path.is_symlink()),
        caches=tuple((home / name).resolve() for name in CACHES if (home / name).is_dir()),
        hidden=tuple(path.resolve() for path in hidden if path.exists()),
        shown=tuple(path.resolve() for path in shown if path.exists()),
        temporary=temporary.resolve(),
    )


def _made(folder: Callable[[Mapping[str, str]], Path], environ: Mapping[str, str]) -> Path | None:
    """A folder of ours; None where it cannot be made, which is told where it is written to."""
    with suppress(OSError):
        return folder(environ)
    return None


def make_caches(environ: Mapping[str, str] = os.environ) -> None:
    """Make those that a program here would make as soon as it is run, which confined it could not. Blocks."""
    home = paths.home(environ)
    for name, program in CACHES.items():
        if not (home / name).exists() and (not program or shutil.which(program, path=environ.get("PATH"))):
            with suppress(OSError):
                (home / name).mkdir(mode=0o700, parents=True)


def confinable(folders: Sequence[Path], environ: Mapping[str, str] = os.environ) -> bool:
    """Whether there can be a sandbox around the folders of a session. Blocks."""
    return not any(_around_home(*_home_and(folders, environ)))


def _home_and(folders: Sequence[Path], environ: Mapping[str, str]) -> tuple[Path, tuple[Path, ...]]:
    return paths.home(environ).resolve(), _distinct(folder.resolve() for folder in folders)


def _around_home(home: Path, roots: Sequence[Path]) -> Iterator[Path]:
    return (root for root in roots if home.is_relative_to(root))


def _expanded(given: str) -> Path:
    return Path(os.path.expanduser(given))


def git_folders(root: Path) -> Iterator[Path]:
    """The git folder of a workspace and those of its submodules; of a linked worktree also the one that all
    share (gitrepository-layout(5))."""
    place = root / ".git"
    found = place if place.is_dir() else _pointed(place)
    if found is None or not found.is_dir():
        return
    common = _named(found / "commondir", found) or found
    yield from dict.fromkeys((found.resolve(), common.resolve()))
    yield from _modules(common.resolve() / "modules")


def _modules(folder: Path) -> Iterator[Path]:
    """Submodules may be within each other, and have slashes in their names."""
    for path, names, files in os.walk(folder):
        if "HEAD" in files:
            yield Path(path)
            names[:] = [name for name in names if name == "modules"]


def _pointed(file: Path) -> Path | None:
    """Where a `.git` file leads."""
    return _named(file, file.parent, "gitdir:")


def _named(file: Path, base: Path, prefix: str = "") -> Path | None:
    try:
        text = file.read_text("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    return base / text.removeprefix(prefix).strip() if text.startswith(prefix) else None


def _distinct(folders: Iterator[Path] | Sequence[Path]) -> tuple[Path, ...]:
    """Each once, and none that is within another."""
    every = sorted(set(folders))
    return tuple(
        path for path in every if not any(path != other and path.is_relative_to(other) for other in every)
    )


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """What a confined program finds in its environment."""
    kept = {name: value for name, value in given.items() if name not in VARIABLES}
    return {**kept, "TMPDIR": "/tmp", **_GIT}  # noqa: S108 (its own)


def stand_in(path: Path) -> None:
    """Put something where nothing is, so that it can be held: an empty folder, which git does not see as a
    change. Git takes the file that names the common folder as it is; this one names its own. Raises
    FileExistsError when something has come meanwhile, and OSError."""
    if path.name == "commondir":
        with path.open("x") as file:
            file.write(".\n")
    else:
        path.mkdir()


def stood_in(path: Path) -> None:
    """Take it away again, unless somebody has put something into it. Raises OSError."""
    if path.name == "commondir":
        if path.read_text() == ".\n":
            path.unlink()
    else:
        path.rmdir()


def is_folder(path: Path) -> bool:
    """Whether it is a folder and no link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False
