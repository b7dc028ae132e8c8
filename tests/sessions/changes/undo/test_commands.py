"""An undo of a command takes only what the command made: nothing that was there before is without a place
after it, after the redo, or after the undo of that (docs/decisions/0032).

`commands.toml` has commands that were found to lose something, and their kin; the long test makes up more.
"""

from __future__ import annotations

import os
import random
import stat
import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from sessions.changes.snapshots.changes import Change
from sessions.changes.tracking import Tracker, as_change
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import WRITES, FilePlan, plan_undo
from sessions.core.models import FileChange

LISTED = tomllib.loads(Path(__file__).with_name("commands.toml").read_text())["command"]
HISTORIES = int(os.environ.get("TEST_HISTORIES", "60"))
KEPT = 20
IGNORED = ".env\nlocal.sqlite3\nbuild/\n"
ENVIRON = {
    **os.environ,
    "GIT_AUTHOR_NAME": "U",
    "GIT_AUTHOR_EMAIL": "u@example.com",
    "GIT_COMMITTER_NAME": "U",
    "GIT_COMMITTER_EMAIL": "u@example.com",
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "protocol.file.allow",
    "GIT_CONFIG_VALUE_0": "always",
    "GIT_CONFIG_KEY_1": "init.defaultBranch",
    "GIT_CONFIG_VALUE_1": "main",
}
MADE = """
git init -q
git init -q inner && echo inside > inner/inside && git -C inner add -A && git -C inner commit -qm first
mkdir d e
printf 'one\\nmine\\n' > f; printf 'one\\nother\\n' > g
echo 'd/x' > d/x; echo 'd/y' > d/y; echo 'e/x' > e/x; ln -s f l
printf '#!/bin/sh\\n' > run; chmod 755 run
printf '.env\\nlocal.sqlite3\\nbuild/\\n' > .gitignore
git add .gitignore f g d e l run && git commit -qm first
git checkout -q -b feature && git rm -q .gitignore && echo feature > new && printf 'two\\nmine\\n' > f
git add f new && git commit -qm second && git checkout -q main
echo notes > notes.txt; echo 'mine alone' >> d/y
printf -- '--- a/g\\n+++ b/g\\n@@ -1,2 +1,2 @@\\n one\\n-other\\n+another\\n' > change.patch
mkdir -p build/deep; echo precious > build/deep/precious; echo result > build/result
echo SECRET=1 > .env; echo rows > local.sqlite3
mkdir ../outside.d; echo outside > ../outside
echo one-outside > ../outside.d/one; echo two-outside > ../outside.d/two
find . .. -exec touch -h -d 2020-01-01 {} +
"""

Picture = dict[str, tuple[int, bytes]]


class Workshop:
    """A project, what lies beside it, and one turn of commands."""

    def __init__(self, root: Path, kept: int) -> None:
        self.project = root / "around" / "project"
        self.project.mkdir(parents=True)
        self.run(MADE)
        self.tracker = Tracker("project", self.project)
        self.tracker.keep_ignored(kept)
        self.kept = kept
        self.changes: list[Change] = []

    def run(self, line: str) -> None:
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.project, env=ENVIRON, capture_output=True, text=True
        )
        self.said = done.stderr

    def command(self, line: str) -> None:
        running = self.tracker.begin(self._record)
        self.run(line)
        self.tracker.end(running)

    def _record(self, found: Iterable[FileChange]) -> None:
        self.changes += map(as_change, found)

    def picture(self) -> Picture:
        """All files but git's, by their paths from the folder around the project."""
        found = {}
        for folder, folders, names in os.walk(self.project.parent):
            folders[:] = [name for name in folders if name != ".git"]
            links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
            for path in (Path(folder, name) for name in names + links):
                mode = path.lstat().st_mode
                content = os.fsencode(os.readlink(path)) if stat.S_ISLNK(mode) else path.read_bytes()
                found[os.path.relpath(path, self.project)] = (mode, content)
        return found

    def undo(self, changes: Sequence[Change]) -> tuple[list[Change], list[FilePlan]]:
        """What was done, and what stays as it is, or as it came from elsewhere."""
        plan = plan_undo(changes, self.tracker.objects, self.project)
        done = apply(plan, self.project, self.tracker.objects)
        assert done.failed == ()
        return list(done.changes), [
            file for file in plan if file.outcome not in (*WRITES, "already") or file.reason
        ]


def contents(picture: Picture) -> set[bytes]:
    return {content for mode, content in picture.values() if stat.S_ISREG(mode) and content}


def hold(root: Path, lines: Sequence[str], kept: int = KEPT) -> dict[str, Any]:
    """Check one turn; gives what the undo left and what it could not bring back, by path."""
    shop = Workshop(root, kept)
    before = shop.picture()
    for line in lines:
        shop.command(line)
    after = shop.picture()
    told = f"{' | '.join(lines)} (kept {kept})"

    redo, left = shop.undo(shop.changes)
    undone = shop.picture()
    said = {file.path.rstrip("/") for file in left}

    def is_said(path: str) -> bool:
        return any(path == name or path.startswith(f"{name}/") for name in said)

    # What came over another file from a place that no snapshot sees stays there: one of the two has no place.
    taken = {content for path, (_, content) in before.items() if is_said(path)}
    known = contents(before) if kept else contents(before) & contents(after)
    known -= taken - contents(after)
    assert not known - contents(undone), f"{told}: lost {known - contents(undone)}; left {left}"
    inside = {path for path in before.keys() | undone.keys() if not path.startswith("../")}
    wrong = {
        path: (before.get(path), undone.get(path)) for path in inside if before.get(path) != undone.get(path)
    }
    assert not {path for path in wrong if not is_said(path)}, f"{told}: unsaid {wrong}; left {left}"

    back, _ = shop.undo(redo)
    redone = shop.picture()
    lost = contents(before) & contents(after) - contents(redone)
    assert not lost, f"{told}: the redo lost {lost}"
    assert redone == after, f"{told}: the redo"
    shop.undo(back)
    assert shop.picture() == undone, f"{told}: the undo of the redo"
    return {
        "left": sorted(path for path in wrong if path in undone),
        "gone": sorted(path for path in wrong if path in before and path not in undone),
    }


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, settings: Settings) -> None:
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"


@pytest.mark.parametrize(
    "case", LISTED, ids=lambda case: case["line"] + (" (none kept)" if not case.get("kept", True) else "")
)
def test_a_command(case: dict[str, Any], tmp_path: Path) -> None:
    found = hold(tmp_path, [case["line"]], KEPT if case.get("kept", True) else 0)
    assert found == {"left": case.get("left", []), "gone": case.get("gone", [])}


NAMES = ("f", "g", "d/x", "d/y", "e/x", "l", "run", "notes.txt", ".env", "local.sqlite3", ".gitignore", "new")
FOLDERS = ("d", "e", "build", "build/deep", "inner", "fresh", "fresh/deep")


def made_up(chance: random.Random) -> str:
    """A line as an agent might run it; what of it fails does nothing."""
    one, other = chance.sample(NAMES, 2)
    folder, second = chance.sample(FOLDERS, 2)
    new = chance.choice(["fresh1", "fresh2", "d/fresh", "e/fresh", ".env.local", "out.bin"])
    mode = chance.choice(["600", "644", "755"])
    return chance.choice(
        [
            "git checkout -q feature",
            "git checkout -q main",
            "git checkout -q -- .",
            "git stash -q",
            "git stash -q -u",
            "git stash pop -q",
            "git clean -qfd",
            "git clean -qfdx",
            "git reset -q --hard",
            "git reset -q --hard feature",
            "git add -A && git commit -qm more",
            "git -c rebase.autoStash=true rebase -q feature",
            "git apply change.patch",
            "git submodule --quiet add ./inner sub",
            f"git mv {one} {new}",
            f"git rm -q --cached {one}",
            f"mv -f {one} {other}",
            f"mv {one} {new}",
            f"mv {folder} {second}",
            f"mv {folder} moved",
            f"mv {chance.choice(['../outside', '../outside.d'])} {new}",
            f"mv {one} ../{chance.choice(['taken', 'outside.d'])}",
            f"cp -a {folder} {new}",
            f"cp -a {one} {other}",
            f"cp {one} {new}",
            f"rm -rf {folder}",
            f"rm -f {one}",
            f"rm -rf {folder}; ln -s {second} {folder}",
            f"rm -f {one} && mkdir {one} && echo n > {one}/n",
            f"rm -rf {folder} && echo n > {folder}",
            f"ln -sf {one} {new}",
            f"ln {one} {new}",
            f"mkdir -p {folder} && echo n > {folder}/n",
            f"chmod {mode} {one}",
            f"tar cf a.tar {folder} && rm -rf {folder} && tar xf a.tar",
            f"sed -i s/one/three/ {one}",
            f"echo more >> {one}",
            f"echo all > {one}",
            f"echo '{new}' >> .gitignore",
            f"sed -i '/{chance.choice(['env', 'build', 'local'])}/d' .gitignore",
            "rm -f .gitignore",
        ]
    )


def command(chance: random.Random) -> str:
    lines = [made_up(chance) for _ in range(chance.randint(1, 3))]
    # What one command brings in from outside and does away with before it ends was seen by nobody.
    return next((line for line in lines if line.startswith("mv ../")), " ; ".join(lines))


def history(root: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines = [command(chance) for _ in range(chance.randint(1, 4))]
    try:
        hold(root, lines)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error


FOUND = (476, 632)
"""Turns that once lost something: a file came back below another, and one was rewritten within a second."""


@pytest.mark.parametrize("seed", [*range(6), *FOUND])
def test_a_turn_of_commands(seed: int, tmp_path: Path) -> None:
    history(tmp_path, seed)


@pytest.mark.long
def test_turns_of_commands(tmp_path: Path, settings: Settings) -> None:
    failed = []
    for seed in range(HISTORIES):
        settings.SNAPSHOT_DIR = tmp_path / str(seed) / "snapshots"
        try:
            history(tmp_path / str(seed), seed)
        except AssertionError as error:
            failed.append(str(error))
    assert not failed, f"{len(failed)} of {HISTORIES}:\n" + "\n\n".join(failed[:5])
