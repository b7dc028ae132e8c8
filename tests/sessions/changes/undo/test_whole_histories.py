"""Random histories of tools and commands over files of all modes, repositories in the project and files
that git ignores: an undo gives back what was there, whole, and a redo what was there before it.
"""

from __future__ import annotations

import os
import random
import stat
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from shlex import quote

import pytest
from pytest_django import Settings

from sessions.changes.snapshots.changes import REPOSITORY, Change
from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker, as_change
from sessions.changes.undo.apply import apply
from sessions.changes.undo.files import NEW_FILE
from sessions.changes.undo.plan import plan_undo
from sessions.core.files import replace_file
from sessions.core.models import FileChange

HISTORIES = int(os.environ.get("TEST_HISTORIES", "60"))
MODES = (0o400, 0o444, 0o600, 0o640, 0o644, 0o660, 0o664, 0o700, 0o750, 0o755, 0o775, 0o777)
FOLDERS = ("", "src/", "vendor/", "vendor/lib/", "vendor/inner/", "ignored/", "ignored/deep/")
NAMES = ("a", "b.txt", "run", "c d", ".env")
PERSON = ("person", "person.d/private", "person.d/.env")
IGNORING = "ignored/\n.env\n"

Picture = dict[str, tuple[int, bytes]]


class World:
    """A project, an agent in it, and a person who works beside it."""

    def __init__(self, root: Path, seed: int) -> None:
        self.random = random.Random(seed)
        self.project = root / "project"
        self.told: list[str] = []
        self.changes: list[Change] = []
        for folder in (self.project, self.project / "vendor", self.project / "vendor" / "inner"):
            folder.mkdir(parents=True)
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        (self.project / ".gitignore").write_text(IGNORING)
        for name in self.random.sample([folder + name for folder in FOLDERS for name in NAMES], 14):
            self._put(self.project / name)
        for place in ("vendor/inner", "vendor", "."):  # with a commit inside it is a gitlink outside
            if self.random.random() < 0.5:
                commit = (
                    "git add -A --ignore-errors . ; git -c user.name=U -c user.email=u@e commit -qm first"
                )
                subprocess.run(["bash", "-c", commit], cwd=self.project / place, capture_output=True)
        self.tracker = Tracker("project", self.project)
        self.tracker.keep_ignored(10)

    def _put(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self._content())
        path.chmod(self.random.choice(MODES))

    def _content(self) -> bytes:
        lines = [b"%d\n" % self.random.randrange(50) for _ in range(self.random.randrange(6))]
        return b"".join(lines) + self.random.choice([b"", b"no newline", b"\0\xff"])

    def picture(self) -> Picture:
        found = {}
        for folder, folders, names in os.walk(self.project):
            folders[:] = [name for name in folders if name != ".git"]
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for path in (Path(folder, name) for name in names + links):
                mode = path.lstat().st_mode
                content = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else path.read_bytes()
                found[str(path.relative_to(self.project))] = (mode, content)
        return found

    def files(self) -> list[str]:
        mine = [path for path, (mode, _) in self.picture().items() if stat.S_ISREG(mode)]
        return sorted(path for path in mine if path != ".gitignore" and not path.startswith("person"))

    def place(self) -> str:
        return f"{self.random.choice(FOLDERS)}{self.random.choice(NAMES)}{self.random.randrange(3)}"

    def step(self) -> None:
        act: Callable[[], None] = self.random.choice([self.command, self.command, self.edit, self.person])
        act()

    def person(self) -> None:
        """Their own files: what the agent wrote to as well is for other tests."""
        path = self.project / self.random.choice(PERSON)
        self.told.append(f"person writes {path.name}")
        self._put(path)

    def edit(self) -> None:
        """A tool writes or removes a file, as `FileWriter` does."""
        files = self.files()
        path = self.random.choice([*files, self.place()])
        file = self.project / path
        if any(parent.is_file() or parent.is_symlink() for parent in file.parents) or file.is_dir():
            return
        content = None if path in files and self.random.random() < 0.2 else self._content()
        mode = file.stat().st_mode if file.exists() else None
        before = self.tracker.objects.put(file.read_bytes()) if file.exists() else None
        after = None if content is None else self.tracker.objects.put(content)
        new = sum(not folder.exists() for folder in file.parents)
        made = None if content is None else mode or NEW_FILE
        self.told.append(f"tool writes {path}" if content is not None else f"tool removes {path}")
        if content is None:
            self.tracker.writing({path: None}, file.unlink)
        else:
            self.tracker.writing({path: object_id(content)}, lambda: replace_file(file, content))
        self.changes.append(Change(path, before, after, mode, made, new_folders=new))

    def command(self) -> None:
        line = " ; ".join(self._line() for _ in range(self.random.randint(1, 3)))
        self.told.append(line)
        running = self.tracker.begin(self._record)
        subprocess.run(
            ["bash", "-c", line], cwd=self.project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.tracker.end(running)

    def _record(self, found: Iterable[FileChange]) -> None:
        self.changes += map(as_change, found)

    def _line(self) -> str:
        files = self.files() or ["a"]
        one, other, new = (quote(name) for name in (*self.random.choices(files, k=2), self.place()))
        folder = quote(self.random.choice(FOLDERS[1:]).rstrip("/"))
        mode = f"{self.random.choice(MODES):o}"
        return self.random.choice(
            [
                f"chmod {mode} {one}",
                f"chmod -R u+rwX,go-w {folder}",
                f"rm -f {one}",
                f"mv -f {one} {other}",
                f"mkdir -p $(dirname {new}); mv -f {one} {new}",
                f"echo {self.random.randrange(99)} >> {one}",
                f"mkdir -p $(dirname {new}); echo new > {new}; chmod {mode} {new}",
                f"cp -p {one} {other}",
                f"rm -rf {folder}",
                f"mv {folder} src/moved{self.random.randrange(3)}",
                f"rm -f {one}; ln -s {other} {one}",
                f"git -C {folder} add -A",
                "find . -name run -not -path '*/.git/*' -exec chmod 755 {} +",
            ]
        )


def hold(root: Path, seed: int) -> None:
    """One history, undone, redone and undone."""
    world = World(root, seed)

    def picture() -> Picture:
        return {path: seen for path, seen in world.picture().items() if path not in PERSON}

    before = picture()
    for _ in range(world.random.randint(1, 7)):
        world.step()
    after = picture()
    history = f"seed {seed}: " + " | ".join(world.told)
    changes = world.changes
    objects = world.tracker.objects
    for wanted in (before, after, before):
        plan = plan_undo(
            [change for change in changes if change.skipped != REPOSITORY], objects, world.project
        )
        assert {file.outcome for file in plan} <= {"restore", "merge", "already"}, f"{history}: {plan}"
        done = apply(plan, world.project, objects)
        assert done.failed == (), history
        found = picture()
        differ = {path: (wanted.get(path), found.get(path)) for path in wanted.keys() | found.keys()}
        assert {path: pair for path, pair in differ.items() if pair[0] != pair[1]} == {}, history
        changes = list(done.changes)


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, settings: Settings) -> None:
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"


@pytest.mark.parametrize("seed", range(4))
def test_a_history(seed: int, tmp_path: Path) -> None:
    hold(tmp_path, seed)


@pytest.mark.long
def test_histories(tmp_path: Path, settings: Settings) -> None:
    failed = []
    for seed in range(HISTORIES):
        settings.SNAPSHOT_DIR = tmp_path / str(seed) / "snapshots"
        try:
            hold(tmp_path / str(seed), seed)
        except AssertionError as error:
            failed.append(str(error))
    assert not failed, f"{len(failed)} of {HISTORIES}:\n" + "\n\n".join(failed[:3])
