"""A home, a workspace and a machine around it that are worth an attack."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from agents.toolkit.permission.rules import Rule
from agents.toolkit.sandbox import door
from agents.toolkit.sandbox.network import Ask
from agents.toolkit.sandbox.terms import Confinement, Terms
from agents.toolkit.shared.environment import shell_environment
from agents.toolkit.shared.process import Ended
from sessions.core.git import clean_environment
from sessions.core.store.added_folders import AddedFolder
from tests.agents.tools.context import turn_in

LOOT = "LOOT"
SECRETS = (
    *(".ssh/id_ed25519", ".aws/credentials", ".netrc", ".git-credentials", ".docker/config.json"),
    *(".kube/config", ".config/gcloud/credentials.db", ".gnupg/private-keys-v1.d/x.key"),
    *(".config/google-chrome/Default/Cookies", ".config/gh/hosts.yml"),
    *(".local/share/opencode/auth.json", ".local/share/opencode-web/auth.json"),
    ".local/share/opencode-web/db.sqlite3-copy",
)
GIT = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")


def is_gone(path: Path) -> bool:
    """Waits for it."""
    end = time.monotonic() + 20
    while path.exists() and time.monotonic() < end:
        time.sleep(0.02)
    return not path.exists()


@dataclass
class Scene:
    """`root` has all of it; `calls` counts who reached a server of this machine."""

    root: Path
    name: str
    variables: dict[str, str] = field(default_factory=dict)
    calls: int = 0
    victim: subprocess.Popen[bytes] | None = None

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def elsewhere(self) -> Path:
        return self.root / "elsewhere"

    def lay_out(self) -> None:
        """As it is before each attack."""
        shutil.rmtree(self.root / "now", ignore_errors=True)
        for part in ("home", "work", "linked", "elsewhere"):
            while (self.root / part).exists():  # what an attack left running may write there meanwhile
                shutil.rmtree(self.root / part, ignore_errors=True)
            shutil.copytree(self.root / "before" / part, self.root / part, symlinks=True)
        for folder in ("/tmp", "/var/tmp", "/dev/shm", "/etc"):  # what attacks leave there
            with suppress(OSError):
                Path(folder, self.name).unlink(missing_ok=True)
        if self.victim is None or self.victim.poll() is not None:
            command = [str(self.root / "victim"), "600"]
            self.victim = subprocess.Popen(command, env={"KEY": LOOT})
            self.variables["VICTIM"] = str(self.victim.pid)
        self.calls = 0

    async def run(
        self,
        line: str,
        sandbox: Confinement,
        *,
        seconds: float = 30,
        folder: str = "work",
        rests: bool = True,
        ask: Ask | None = None,
        rules: Sequence[Rule] = (),
        added: Sequence[Path] = (),
    ) -> tuple[str, Ended]:
        """What a shell line says in a workspace, and how it ended. `rests`: the turn is over with it."""
        said: list[bytes] = []

        async def listen(chunk: bytes) -> None:
            said.append(chunk)

        place = self.root / folder
        folders = [AddedFolder(path.name, path) for path in added]
        turn = turn_in(place, place, terms=Terms(sandbox=sandbox), rules=rules, folders=folders)
        environ = {**shell_environment(), **self.variables, "OPENAI_API_KEY": LOOT}
        ended = await door.run(
            ["bash", "-c", line],
            turn,
            cwd=place,
            env=environ,
            timeout=seconds,
            abort=asyncio.Event(),
            on_output=listen,
            ask=ask,
        )
        if rests:
            await door.rest(turn.session.id)
        return b"".join(said).decode("utf-8", "replace"), ended

    def shows(self, sign: str, said: str) -> bool:
        """Whether an attack succeeded."""
        kind, _, place = sign.partition(" ")
        if kind == "made":
            for name, value in self.variables.items():
                place = place.replace(f"${name}", value)
            try:
                return LOOT in Path(place).read_text()
            except OSError:
                return False
        if kind == "killed":
            assert self.victim is not None
            with suppress(subprocess.TimeoutExpired):
                self.victim.wait(0.3)
            return self.victim.poll() is not None
        return self.calls > 0 if kind == "called" else LOOT in said


@contextmanager
def scene() -> Iterator[Scene]:
    """Not below the temporary folder, which every confined program has one of its own of."""
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sandbox-", dir=sys.prefix)))
        made = Scene(root, f"opencode-web-attack-{os.getpid()}")
        stack.enter_context(mock.patch.dict(os.environ, _homes(made.home)))
        made.variables |= {"HOME": str(made.home), "WORK": str(made.work), "NAME": made.name}
        made.variables |= {"ELSEWHERE": str(made.elsewhere), "LINKED": str(root / "linked")}
        made.variables["DATA"] = str(made.home / ".local/share/opencode-web")
        _fill(made)
        (root / "before").mkdir()
        for part in ("home", "work", "linked", "elsewhere"):
            shutil.copytree(root / part, root / "before" / part, symlinks=True)
        shutil.copy(shutil.which("sleep") or "/bin/sleep", root / "victim")
        stack.enter_context(_serving(made))
        try:
            yield made
        finally:
            if made.victim is not None:
                made.victim.kill()
                made.victim.wait()


def _homes(home: Path) -> Mapping[str, str]:
    kinds = {"DATA": ".local/share", "STATE": ".local/state", "CONFIG": ".config", "CACHE": ".cache"}
    return {"HOME": str(home), **{f"XDG_{kind}_HOME": str(home / place) for kind, place in kinds.items()}}


def _fill(made: Scene) -> None:
    for name in SECRETS:
        path = made.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{LOOT}\n")
    (made.home / ".docker/run").mkdir()
    (made.home / ".cache").mkdir()
    (made.home / ".ssh/known_hosts").write_text("known\n")
    made.elsewhere.mkdir()
    (made.elsewhere / "kept").write_text("kept\n")
    made.work.mkdir()
    for line in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "One"]):
        subprocess.run([*GIT, *line], cwd=made.work, check=True, env=clean_environment())
    subprocess.run(
        [*GIT, "worktree", "add", "-q", str(made.root / "linked")],
        cwd=made.work,
        check=True,
        env=clean_environment(),
    )
    (made.work / ".idea").mkdir()
    (made.work / ".idea/modules.xml").write_text("kept\n")


@contextmanager
def _serving(made: Scene) -> Iterator[None]:
    """What can be reached on this machine, by every way there is."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    packets.bind(("127.0.0.1", 0))
    made.variables |= {"PORT": str(port), "UDP": str(packets.getsockname()[1])}
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0{made.name}")
    other = socket.create_server(("127.9.9.9", port))
    sockets = [server, other, abstract, packets]
    for each in sockets:
        each.settimeout(0.2)
        if each is not packets:
            each.listen()
    ended = threading.Event()
    threads = [threading.Thread(target=_count, args=(made, each, ended)) for each in sockets]
    threads.append(threading.Thread(target=_follow, args=(made, ended)))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        for each in sockets:
            each.close()


def _count(made: Scene, server: socket.socket, ended: threading.Event) -> None:
    while not ended.is_set():
        with suppress(TimeoutError):
            if server.type == socket.SOCK_DGRAM:
                server.recv(10)
            else:
                server.accept()[0].close()
            made.calls += 1


def _follow(made: Scene, ended: threading.Event) -> None:
    """The socket that is a file, made anew where the home is laid out anew."""
    path = made.home / ".docker/run/docker.sock"
    while not ended.wait(0.01):
        if path.parent.is_dir() and not path.exists():
            with suppress(OSError), socket.socket(socket.AF_UNIX) as server:
                server.bind(str(path))
                server.listen()
                server.settimeout(0.05)
                while not ended.is_set() and path.exists():
                    with suppress(TimeoutError):
                        server.accept()[0].close()
                        made.calls += 1
