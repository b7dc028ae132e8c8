"""Random histories: two agents and a person change the same files, and hunks are undone and redone in
between.

Whatever happened: a person's lines survive, redo brings back exactly what undo took, all hunks of a file that
nobody else touched give the file before, and the order of undos does not matter. Failures are kept in
`seeds/`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from sessions.changes.operations.hunks import Picks, plan_picks
from sessions.changes.review.verdicts import Listing, ReviewedFile, Scope, judge
from sessions.changes.roots import Roots
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.tracking import Tracker
from sessions.changes.undo.apply import apply
from sessions.changes.undo.plan import net_steps, plan_undo

pytestmark = pytest.mark.long

KEPT = DirectoryBasedExampleDatabase(Path(__file__).parent / "seeds")
NAMES = ["a", "sub/b"]
DULL = [b"\n", b"}\n", b"    return\n"]
"""Lines that occur often, as in any program; all others are unique."""

histories = settings(max_examples=300, database=KEPT)


@dataclass(eq=False)
class Home:
    objects: ObjectStore
    worktree: Path
    project_id: str = ""


@dataclass
class World:
    root: Path
    store: ObjectStore
    data: st.DataObject
    changes: dict[str, list[Change]] = field(default_factory=lambda: {"one": [], "two": []})
    mine: set[bytes] = field(default_factory=set)
    lines: int = 0

    def read(self, name: str) -> bytes | None:
        path = self.root / name
        return path.read_bytes() if path.exists() else None

    def write(self, name: str, content: bytes | None) -> None:
        path = self.root / name
        if content is None:
            path.unlink()
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)

    def files(self) -> dict[str, bytes | None]:
        return {name: self.read(name) for name in NAMES}

    def line(self, who: str) -> bytes:
        if self.data.draw(st.integers(0, 3)) == 0 and who != "me":
            return self.data.draw(st.sampled_from(DULL))
        self.lines += 1
        return b"%s %d\n" % (who.encode(), self.lines)

    def agent(self, session: str) -> None:
        """An edit that leaves the person's lines alone, as a careful agent does; or a new or removed file."""
        name = self.data.draw(st.sampled_from(NAMES))
        before = self.read(name)
        if before is None:
            after: bytes | None = b"".join(
                self.line(session) for _ in range(self.data.draw(st.integers(1, 6)))
            )
        elif not self.mine & set(before.splitlines(True)) and self.data.draw(st.integers(0, 9)) == 0:
            after = None
        else:
            after = self.edited(before, session, keep=self.mine)
        self.write(name, after)
        put = self.store.put
        self.changes[session].append(
            Change(
                name, put(before) if before is not None else None, put(after) if after is not None else None
            )
        )

    def person(self) -> None:
        name = self.data.draw(st.sampled_from(NAMES))
        before = self.read(name)
        if before is not None:
            self.write(name, self.edited(before, "me", keep=self.mine))
            self.mine |= {
                line for line in (self.read(name) or b"").splitlines(True) if line.startswith(b"me ")
            }

    def edited(self, content: bytes, who: str, keep: set[bytes]) -> bytes:
        """A few lines put in, or in place of others that may go."""
        lines = content.splitlines(True)
        start = self.data.draw(st.integers(0, len(lines)))
        stop = start
        while (
            stop < len(lines)
            and stop - start < 3
            and lines[stop] not in keep
            and self.data.draw(st.booleans())
        ):
            stop += 1
        new = [self.line(who) for _ in range(self.data.draw(st.integers(0 if stop > start else 1, 3)))]
        return b"".join([*lines[:start], *new, *lines[stop:]])

    def listing(self, session: str) -> Listing:
        files = []
        for name in NAMES:
            steps = net_steps([change for change in self.changes[session] if change.path == name], self.store)
            if steps:
                files.append(ReviewedFile(name, name, steps, steps, "modified", "here"))
        home = cast(Tracker, Home(self.store, self.root))
        return Listing(Scope(), tuple(files), Roots(home))

    def hunks(self, session: str, states: Sequence[str] = ("here",)) -> list[tuple[str, str]]:
        found = self.listing(session)
        return [
            (file.key, judged.key)
            for file in found.files
            for step in judge(file, found)
            for judged in step.hunks.values()
            if judged.state in states
        ]

    def undo(self, session: str, picks: Picks) -> Sequence[Change]:
        planned = plan_picks(self.listing(session), picks)
        return apply([plan for file in planned for plan in file.plans], self.root, self.store).changes

    def redo(self, changes: Sequence[Change]) -> Sequence[Change]:
        return apply(plan_undo(changes, self.store, self.root), self.root, self.store).changes

    def live(self, steps: int) -> None:
        """A stretch of history with everybody in it."""
        done: list[Sequence[Change]] = []
        for _ in range(steps):
            what = self.data.draw(st.sampled_from(["one", "one", "two", "me", "undo", "redo"]))
            if what == "me":
                self.person()
            elif what == "undo":
                done.append(self.some_undo())
            elif what == "redo":
                if done:
                    self.redo(done.pop(self.data.draw(st.integers(0, len(done) - 1))))
            else:
                self.agent(what)

    def some_undo(self) -> Sequence[Change]:
        session = self.data.draw(st.sampled_from(["one", "two"]))
        hunks = self.hunks(session, ("here", "gone", "changed", "missing"))
        if not hunks:
            return ()
        name, key = self.data.draw(st.sampled_from(hunks))
        whole = self.data.draw(st.integers(0, 3)) == 0
        return self.undo(session, {name: None if whole else [key]})


@contextmanager
def world(data: st.DataObject) -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        made = World(Path(folder) / "work", ObjectStore(Path(folder) / "store"), data)
        made.root.mkdir()
        for name in NAMES:
            count = data.draw(st.integers(0, 80))
            lines = [DULL[number % 3] if number % 5 == 4 else b"%d\n" % number for number in range(count)]
            if lines:
                made.write(name, b"".join(lines))
        yield made


@histories
@given(st.data(), st.integers(1, 10))
def test_lines_of_the_person_survive(data: st.DataObject, steps: int) -> None:
    with world(data) as made:
        made.live(steps)
        lines = [line for content in made.files().values() for line in (content or b"").splitlines(True)]
        assert sorted(line for line in lines if line.startswith(b"me ")) == sorted(made.mine)


@histories
@given(st.data(), st.integers(1, 8))
def test_redo_is_the_inverse_of_undo(data: st.DataObject, steps: int) -> None:
    with world(data) as made:
        made.live(steps)
        before = made.files()
        undone = made.some_undo()
        after = made.files()
        redone = made.redo(undone)
        assert made.files() == before
        made.redo(redone)
        assert made.files() == after


@histories
@given(st.data(), st.integers(1, 6), st.booleans())
def test_all_hunks_of_an_untouched_file_give_the_bytes_before(
    data: st.DataObject, edits: int, at_once: bool
) -> None:
    with world(data) as made:
        before = made.files()
        for _ in range(edits):
            made.agent("one")
        hunks = data.draw(st.permutations(made.hunks("one")))
        if at_once:
            made.undo("one", {name: [key for file, key in hunks if file == name] for name in NAMES})
        else:
            for name, key in hunks:
                made.undo("one", {name: [key]})
        assert made.files() == before


@histories
@given(st.data(), st.integers(1, 8))
def test_the_order_of_undos_does_not_matter(data: st.DataObject, steps: int) -> None:
    with world(data) as made:
        made.live(steps)
        # Hunks of two sessions on the same lines depend on each other; those of one session never do.
        chosen = [hunk for hunk in made.hunks("one") if hunk[1]]
        before = made.files()
        results = []
        for order in (chosen, data.draw(st.permutations(chosen))):
            for name, content in before.items():
                if content is not None:
                    made.write(name, content)
            for name, key in order:
                made.undo("one", {name: [key]})
            results.append(made.files())
        assert results[0] == results[1]
