"""What a reader sees of one file: rows, gaps, pieces, and what is said over them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from django.utils.safestring import SafeString

from sessions.changes.diffs.hunks import hunks, parse
from sessions.changes.diffs.lines import diff_text
from sessions.changes.review.filediffs import LARGEST
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectMissing, ObjectStore
from sessions.rendering.diffs.body import file_body
from sessions.rendering.diffs.table import FIRST_ROWS, PIECE, HunkBar, Notes, Reading, View, show

LINK, PLAIN, EXECUTABLE = 0o120777, 0o100644, 0o100755
UNIFIED, SPLIT = Reading(), Reading("split")
NUMBERED = b"".join(b"line %d\n" % number for number in range(1, 101))


@dataclass(eq=False)
class Contents(ObjectStore):
    """Contents under their own names; a new one holds nothing that was compared before."""

    contents: dict[str, bytes]

    def get(self, oid: str) -> bytes:
        try:
            return self.contents[oid]
        except KeyError:
            raise ObjectMissing(oid) from None


def body(
    before: bytes | None,
    after: bytes | None,
    reading: Reading = UNIFIED,
    *,
    modes: tuple[int, int] = (PLAIN, PLAIN),
    path: str = "src/a.py",
    marks: dict[str, HunkBar] | None = None,
    notes: Notes | None = None,
) -> str:
    contents = {name: data for name, data in (("one", before), ("two", after)) if data is not None}
    change = Change(
        path,
        "one" if before is not None else None,
        "two" if after is not None else None,
        modes[0] if before is not None else None,
        modes[1] if after is not None else None,
    )
    return file_body(
        change,
        Contents(contents),
        reading,
        base="/p/1/s/2",
        query="scope=turn&path=src%2Fa.py",
        marks=marks,
        notes=notes,
    )


def numbers(html: str, side: str = "new") -> list[int]:
    return [int(number) for number in re.findall(rf'class="num {side}[^"]*" data-n="(\d+)"', html)]


def later(html: str, kind: str) -> list[tuple[int, int]]:
    """The pieces that static/js/diff.js asks for in the end."""
    found = re.findall(rf'&amp;{kind}=" data-from="(\d+)" data-to="(\d+)" data-piece="(\d+)"', html)
    return [
        (at, min(at + int(piece), int(stop)))
        for start, stop, piece in found
        for at in range(int(start), int(stop), int(piece))
    ]


def changed(*lines: int) -> bytes:
    made = NUMBERED
    for line in lines:
        made = made.replace(b"line %d\n" % line, b"changed %d\n" % line)
    return made


def test_hunks_have_their_keys_states_and_bars() -> None:
    bare = body(NUMBERED, changed(10, 90), marks={})
    keys = re.findall(r'data-hunk="([^"]+)"', bare)
    assert len(keys) == 2
    marks = {keys[1]: HunkBar("gone", SafeString("<b>Redo</b>"))}
    marked = body(NUMBERED, changed(10, 90), marks=marks)
    assert re.findall(r'data-state="(\w+)"', marked) == ["here", "gone"]
    assert '<td colspan="3"><b>Redo</b></td>' in marked
    assert "@@ -7,7 +7,7 @@" in marked
    ids = re.findall(r'<tbody class="hunk" id="(h-\w+-\d)"', marked)
    assert len(set(ids)) == 2
    assert 'data-hunk="' not in body(NUMBERED, changed(10)), "a question of the agent has no verdicts"


@pytest.mark.parametrize("reading", [UNIFIED, SPLIT])
def test_notes_stand_under_their_lines(reading: Reading) -> None:
    notes: Notes = {
        ("old", 10): SafeString("<i>was</i>"),
        ("new", 10): SafeString("<i>is</i>"),
        ("new", 11): SafeString("<i>beside</i>"),
        ("new", 50): SafeString("<i>hidden</i>"),
    }
    shown = body(NUMBERED, changed(10), reading, notes=notes)
    assert re.findall(r'data-line="\d+"><td colspan="\d"><i>(\w+)</i>', shown) == ["was", "is", "beside"]
    assert "87 unchanged lines, 1 with a comment" in shown
    at = shown.index("<i>is</i>")
    assert shown.rindex("changed", 0, at) > 0


@pytest.mark.parametrize("reading", [UNIFIED, SPLIT])
def test_lines_between_hunks_can_be_had(reading: Reading) -> None:
    before, after = NUMBERED, b"new first\n" + changed(50)
    whole = body(before, after, reading)
    assert re.findall(r"gap=(\d+-\d+)&amp;take=(\w+)", whole) == [
        ("5-48", "down"),
        ("5-48", "up"),
        ("5-48", "all"),
        ("55-102", "down"),
        ("55-102", "all"),
    ]

    def ask(start: int, stop: int, take: str) -> str:
        query = {"view": reading.view, "gap": f"{start}-{stop}", "take": take}
        return body(before, after, Reading.asked(query))

    down = ask(5, 48, "down")
    assert numbers(down) == list(range(5, 25))
    assert numbers(down, "old") == list(range(4, 24))
    assert "23 unchanged lines" in down
    assert down.index('data-n="24"') < down.index("gap=25-48")
    up = ask(5, 48, "up")
    assert numbers(up) == list(range(28, 48))
    assert up.index("gap=5-28") < up.index('data-n="28"')
    assert numbers(ask(5, 48, "all")) == list(range(5, 48))
    assert numbers(ask(90, 102, "down")) == list(range(90, 102)), "so few come at once"
    assert "<button" not in ask(5, 48, "all")


def test_only_gaps_of_this_diff_are_given() -> None:
    for gap in ("1-60", "45-55", "0-5", "90-103", "7-5", "x", "999999999999-1"):
        answer = body(NUMBERED, changed(50), Reading.asked({"gap": gap}))
        assert numbers(answer) in ([], numbers(body(NUMBERED, changed(50)))), gap


def test_a_long_gap_comes_in_pieces_too() -> None:
    before = b"".join(b"%d\n" % n for n in range(1000))
    all_of_it = body(before, before + b"end\n", Reading(gap=(1, 998), take="all"))
    assert numbers(all_of_it) == []
    pieces = later(all_of_it, "gap")
    assert pieces[0] == (1, 1 + PIECE)
    assert pieces[-1][1] == 998
    first = body(before, before + b"end\n", Reading(gap=(1, 1 + PIECE)))
    assert numbers(first) == list(range(1, 1 + PIECE))


@pytest.mark.parametrize("reading", [UNIFIED, SPLIT])
def test_a_huge_diff_comes_in_pieces_that_fit_together(reading: Reading) -> None:
    before = b"".join(b"old %d\n" % n for n in range(1500)) + NUMBERED
    after = b"".join(b"new %d\n" % n for n in range(1400)) + changed(50)
    whole = body(before, after, reading, marks={})
    pieces = later(whole, "rows")
    assert [start for start, _ in pieces][:2] == [FIRST_ROWS, FIRST_ROWS + PIECE]
    made = whole + "".join(
        body(before, after, Reading(reading.view, rows=piece), marks={}) for piece in pieces
    )
    assert numbers(made) == [*range(1, 1404), *range(1447, 1454)]
    assert numbers(made, "old") == [*range(1, 1504), *range(1547, 1554)]
    assert made.count('<tbody class="hunk"') == 2
    assert made.count('<tbody class="more"') == len(pieces)
    assert made.count('class="gap"') == 2
    assert made.index("unchanged lines") > whole.index('class="later"')


def test_pieces_beyond_the_end_have_no_rows() -> None:
    assert numbers(body(NUMBERED, changed(50), Reading(rows=(5000, 5200)))) == []


def test_white_space_is_left_out_on_demand() -> None:
    after = changed(50).replace(b"line 10\n", b"line  10\n")
    off = body(NUMBERED, after, Reading.asked({"w": "1"}), marks={})
    on = body(NUMBERED, after, marks={})
    assert re.findall(r'data-hunk="([^"]+)"', on)[1:] == re.findall(r'data-hunk="([^"]+)"', off)
    assert "46 lines, 1 hunk of white space only not shown" in off
    assert "&amp;w=1&amp;gap=" in off
    only = body(b"a b\n", b"a  b\n", Reading.asked({"w": "1"}))
    assert "1 hunk changes nothing but white space, not shown." in only
    assert "<table" not in only


@pytest.mark.parametrize(
    ("before", "after", "modes", "said"),
    [
        (b"a\n", b"a\n", (PLAIN, EXECUTABLE), "Mode 644 became 755: executable."),
        (b"a\n", b"b\n", (EXECUTABLE, PLAIN), "Mode 755 became 644: no longer executable."),
        (None, b"a\n", (PLAIN, EXECUTABLE), "Executable."),
        (b"t", b"u", (LINK, LINK), "Link → t became link → u."),
        (None, b"t", (LINK, LINK), "Link → t."),
        (b"t", None, (LINK, LINK), "Link → t, removed."),
        (b"text\n", b"t", (PLAIN, LINK), "A file became link → t."),
        (b"a\nb\n", b"a\r\nb\r\n", (PLAIN, PLAIN), "Line ends: LF became CRLF."),
        (b"a\r\nb\n", b"a\nb\n", (PLAIN, PLAIN), "Line ends: CRLF and LF became LF."),
        (b"a\r\n", b"b\r\n", (PLAIN, PLAIN), "Line ends: CRLF."),
        (b"caf\xe9\n", b"caf\xe9!\n", (PLAIN, PLAIN), "Not all of it is UTF-8"),
        (None, b"", (PLAIN, PLAIN), "The file is empty."),
        (b"\0" * 20_000, None, (PLAIN, PLAIN), "Binary file: 20 kB before, no file after."),
        (b"x\n" * (LARGEST // 2), b"x", (PLAIN, PLAIN), "Too large to be compared"),
    ],
)
def test_what_is_said_of_a_file(
    before: bytes | None, after: bytes | None, modes: tuple[int, int], said: str
) -> None:
    assert said in body(before, after, modes=modes)


def test_links_have_no_lines_and_line_ends_are_seen() -> None:
    assert "<table" not in body(b"t", b"u", modes=(LINK, LINK))
    assert "\u240d" in body(b"a\nb\n", b"a\r\nb\n")
    assert "no newline at the end" in body(b"a\n", b"b")


def test_a_mere_rename_says_so() -> None:
    change = Change("new.py", "same", "same", PLAIN, PLAIN)
    contents = Contents({"same": b"x = 1\n"})
    shown = file_body(change, contents, UNIFIED, base="", query="", renamed_from="<old>.py")
    assert "Renamed from &lt;old&gt;.py, without changes." in shown


def test_everything_is_text() -> None:
    hostile = "<script>\u202e.py"
    shown = body(b"<img src=x>\n", b"<img src=y>\n\x1b[31m\n", path=hostile)
    assert "&lt;script&gt;" in shown
    assert "<img" not in shown
    assert "\u202e" not in shown
    assert "\x1b" not in shown


def test_images_are_side_by_side_with_their_sizes() -> None:
    png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x20\0\0\0\x10"
    shown = body(png + b"\1", png + b"\2\2", path="logo.png")
    assert re.findall(r'src="([^"]+)"', shown) == [
        f"/p/1/s/2/review/image/{oid}?scope=turn&amp;path=src%2Fa.py" for oid in ("one", "two")
    ]
    assert "25 bytes, 32 × 16 pixels" in shown
    assert "26 bytes, 32 × 16 pixels" in shown
    added = body(None, png, path="logo.png")
    assert added.count("<img") == 1
    assert "Binary file: no file before, 24 bytes after." in added
    svg = body(None, b"<svg onload='alert(1)'></svg>\n", path="logo.svg")
    assert svg.count("<img") == 1
    assert "&lt;" in svg, "and it has lines"


def test_contents_that_are_gone_are_said() -> None:
    change = Change("a", "lost", "lost too", PLAIN, PLAIN)
    assert "no longer at hand" in file_body(change, Contents({}), UNIFIED, base="", query="")
    skipped = Change("a", None, None, skipped="larger than 2 MB")
    assert "not kept: larger than 2 MB" in file_body(skipped, Contents({}), UNIFIED, base="", query="")


@pytest.mark.parametrize("view", ["unified", "split"])
def test_a_table_alone_is_cut_where_it_is_told_to(view: View) -> None:
    shown = show(hunks(b"", NUMBERED), "a.py", view, limit=30)
    assert shown.left_out == 70
    assert numbers(shown.table) == list(range(1, 31))
    assert 'class="later"' not in shown.table
    assert show(hunks(b"", NUMBERED), "a.py", view, limit=None).left_out == 0
    grown = show(hunks(b"line 5!\n", NUMBERED * 2), "a.py", view, limit=30)
    assert len(numbers(grown.table)) <= 30


def test_a_patch_says_what_it_leaves_out_and_has_no_more_of_it() -> None:
    shown = show(parse(diff_text(NUMBERED.decode(), changed(50).decode(), "a.py")), "a.py", "split")
    assert "46 unchanged lines" in shown.table
    assert "<button" not in shown.table
    assert "<mark>" in shown.table


@pytest.mark.parametrize("reading", [UNIFIED, SPLIT])
def test_lines_in_a_long_text_have_its_colour(reading: Reading) -> None:
    before = b'"""\n' + b"for if while\n" * 20 + b'"""\nx = 1\n'
    shown = body(
        before, before.replace(b"for if while\n" * 20, b"for if while\n" * 10 + b"if not\n" * 10), reading
    )
    assert '<span class="sd">if not</span>' in shown
    assert '<span class="sd">for if while</span>' in shown
    assert '<span class="k">' not in shown


@pytest.mark.parametrize("reading", [UNIFIED, SPLIT])
def test_a_hunk_is_coloured_from_the_start_of_its_file(reading: Reading) -> None:
    prose = b'def get():\n    """\n' + b"    Words if any.\n" * 12
    before = b"x = 1\n" * 4000 + prose + b'    """\n    for key in keys:\n        pass\n'
    after = before.replace(prose + b'    """\n    for', prose[:-4] + b'!\n    """\n    for')
    after = after.replace(b"pass\n", b"return key\n")
    shown = body(before, after, reading)
    assert '<span class="k">for</span>' in shown
    assert '<span class="k">pass</span>' in shown
    assert '<span class="k">if</span>' not in shown
