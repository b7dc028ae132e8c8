from __future__ import annotations

from sessions.changes.diffs.renames import ALL, MOST_FILES, Moved, renames

TEXT = b"".join(b"line %d of a text\n" % number for number in range(20))
STORE = {
    "text": TEXT,
    "edited": TEXT.replace(b"line 3 ", b"LINE 3 "),
    "half": b"".join(TEXT.splitlines(keepends=True)[:9])
    + b"".join(b"new %02d of a text\n" % n for n in range(11)),
    "other": b"nothing of this was there before\n" * 20,
    "empty": b"",
}


def gone(path: str, address: str) -> Moved:
    return Moved(path, address, None)


def come(path: str, address: str) -> Moved:
    return Moved(path, None, address)


def test_equal_contents_are_one_file_and_the_same_name_comes_first() -> None:
    changes = [gone("a/x.py", "text"), gone("a/y.py", "text"), come("b/y.py", "text"), come("c/z.py", "text")]
    assert renames(changes, STORE.get) == {"b/y.py": "a/y.py", "c/z.py": "a/x.py"}


def test_half_of_the_lines_make_a_rename_and_less_do_not() -> None:
    assert renames([gone("old", "text"), come("new", "edited")], STORE.get) == {"new": "old"}
    assert renames([gone("old", "text"), come("new", "half")], STORE.get) == {}
    assert renames([gone("old", "text"), come("new", "other")], STORE.get) == {}
    assert renames([gone("old", "empty"), come("new", "other")], STORE.get) == {}


def test_the_most_alike_pair_is_taken_first() -> None:
    changes = [gone("old", "text"), come("far", "half"), come("near", "edited"), come("same", "text")]
    assert renames(changes, STORE.get) == {"same": "old"}
    assert renames(changes[:3], STORE.get) == {"near": "old"}


def test_a_copy_is_no_rename_and_neither_is_what_stays() -> None:
    kept = Moved("kept", "text", "edited")
    assert renames([kept, come("copy", "text")], STORE.get) == {}
    assert renames([], STORE.get) == {}


def test_what_is_not_at_hand_is_no_rename() -> None:
    assert renames([gone("old", "text"), come("new", "lost")], STORE.get) == {}


def test_the_work_is_bounded() -> None:
    asked: list[str] = []

    def load(address: str) -> bytes:
        asked.append(address)
        return b"x" * (ALL // 4)

    many = [gone(f"g{n}", f"a{n}") for n in range(MOST_FILES)] + [come("new", "b")]
    assert renames(many, load) == {}
    assert len(asked) == 4, "no more is loaded than may be"
    asked.clear()
    assert renames([*many, gone("one more", "c")], load) == {}
    assert asked == []
