"""Edit, then approve: what a person put in place of a proposal is written, and the model is told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.toolkit.base import Approval, ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionRejected
from agents.toolkit.shared.proposals import ROUNDS, Change, applied
from agents.tools.apply_patch import TOOL as PATCH
from agents.tools.edit import TOOL as EDIT
from agents.tools.multiedit import TOOL as MULTIEDIT
from agents.tools.write import TOOL as WRITE
from sessions.changes.diffs.endings import editable
from sessions.changes.diffs.hunks import pieces, without
from sessions.changes.diffs.lines import split_lines
from sessions.core.filetext import detect
from tests.agents.tools.context import DirectContext

SENTENCE = "The user changed this edit before allowing it."


async def edit(context: DirectContext, old: str = "two", new: str = "2") -> ToolResult:
    arguments = {"filePath": "a.txt", "oldString": old, "newString": new}
    return await EDIT.execute(EDIT.input.model_validate(arguments), context)


async def write(context: DirectContext, content: str) -> ToolResult:
    arguments = {"filePath": "a.txt", "content": content}
    return await WRITE.execute(WRITE.input.model_validate(arguments), context)


async def patch(context: DirectContext, *lines: str) -> ToolResult:
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    return await PATCH.execute(PATCH.input.model_validate({"patchText": text}), context)


def file(context: DirectContext, content: bytes | str = "one\ntwo\nthree\n", name: str = "a.txt") -> Path:
    path = context.worktree / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def allow(context: DirectContext, said: str = "", **contents: str | None) -> None:
    """Allow with other contents, by file name with `_` for the dot."""
    named = {str(context.worktree / name.replace("_", ".")): text for name, text in contents.items()}
    context.approval = Approval(named, said)


async def test_what_the_person_made_of_it_is_written_and_told(context: DirectContext) -> None:
    path = file(context)
    allow(context, "capitals, please", a_txt="one\nTWO\nthree\n")
    result = await edit(context)
    assert path.read_text() == "one\nTWO\nthree\n"
    assert SENTENCE in result.output
    assert "\n-2\n+TWO\n" in result.output, "from what was proposed to what was applied"
    assert result.output.endswith("The user said: capitals, please")
    assert "Edited a.txt" not in result.output
    assert result.metadata["filediff"]["after"] == "one\nTWO\nthree\n"
    assert "\n-two\n+TWO\n" in result.metadata["diff"], "from what was there to what was applied"
    assert result.metadata["edited"] is True


@pytest.mark.parametrize("contents", [{}, {"a_txt": "one\n2\nthree\n"}, {"a_txt": "one\r\n2\r\nthree\r\n"}])
async def test_what_was_left_as_proposed_is_told_as_ever(
    context: DirectContext, contents: dict[str, str | None]
) -> None:
    path = file(context)
    allow(context, "", **contents)
    result = await edit(context)
    assert path.read_text() == "one\n2\nthree\n"
    assert result.output == "Edited a.txt: 1 place (line 2)."
    assert "edited" not in result.metadata


@pytest.mark.parametrize("content", [None, "one\ntwo\nthree\n"])
async def test_a_change_that_was_taken_out_is_not_made(context: DirectContext, content: str | None) -> None:
    path = file(context)
    allow(context, a_txt=content)
    result = await edit(context)
    assert path.read_text() == "one\ntwo\nthree\n"
    assert "nothing was applied" in result.output
    assert SENTENCE not in result.output
    assert (result.metadata["diff"], result.metadata["edited"]) == ("", True)


@pytest.mark.parametrize("content", [None, ""])
async def test_a_new_file_that_was_taken_out_is_not_made(context: DirectContext, content: str | None) -> None:
    allow(context, a_txt=content)
    result = await write(context, "hello\n")
    assert not (context.worktree / "a.txt").exists()
    assert "nothing was applied" in result.output
    assert context.written == []


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        (b"a\r\ntwo\r\nc\r\n", "a\n2\nnew\nc\n", b"a\r\n2\r\nnew\r\nc\r\n"),
        (b"a\r\ntwo\r\nc\r\n", "a\r\n2\r\nnew\r\nc\r\n", b"a\r\n2\r\nnew\r\nc\r\n"),
        (b"a\r\ntwo\nc\r\n", "x\n2\nc\n", b"x\r\n2\nc\r\n"),
        (b"a\ntwo\r\nc\nd\n", "a\ntwo\nC\nd\n", b"a\ntwo\r\nC\nd\n"),
        (b"\xef\xbb\xbfa\ntwo\n", "\ufeffb\n2\n", b"\xef\xbb\xbfb\n2\n"),
        ("caf\xe9\ntwo\n".encode("latin-1"), "café\nthé\n", "caf\xe9\nth\xe9\n".encode("latin-1")),
        ("üö\n".encode() + b"\xff\ntwo\n", "üö\n\ufffd\nII\n", "üö\n".encode() + b"\xff\nII\n"),
        (b"\xff\xfea\x00\n\x00t\x00w\x00o\x00", "a\né", "\ufeffa\né".encode("utf-16-le")),
        (b"a\ntwo", "a\n2\n", b"a\n2\n"),
    ],
)
async def test_encoding_mark_and_line_endings_stay(
    context: DirectContext, before: bytes, given: str, after: bytes
) -> None:
    path = file(context, before)
    allow(context, a_txt=given)
    await edit(context)
    assert path.read_bytes() == after


LINES = st.lists(st.sampled_from([b"a\r\n", b"b\n", b"\xffc\n", b"d\r\n", b"e\n"]), max_size=30)


@settings(max_examples=150)
@given(before=LINES, after=LINES, data=st.data())
def test_hunks_that_were_taken_out_are_as_they_were_byte_for_byte(
    before: list[bytes], after: list[bytes], data: st.DataObject
) -> None:
    """The page picks hunks of the text it is shown; what is written is the same pick of the bytes."""
    old, new = b"".join([*before, b"\xff\n"]), b"".join([*after, b"\xff\n"])
    codec = detect(old)
    change = Change(old, new, codec.decode(old), codec.decode(new))
    shown = editable(change.old).encode(), editable(change.new).encode()
    keys = [piece.key for piece in pieces(*map(split_lines, shown))]
    raw_keys = [piece.key for piece in pieces(split_lines(old), split_lines(new))]
    out = data.draw(st.sets(st.sampled_from(range(len(keys))))) if keys else set()
    text = without(*shown, {keys[number] for number in out}).decode()
    made = applied(change, {"a": text}, "a")
    assert made is not None
    assert made.after == without(old, new, {raw_keys[number] for number in out})


async def test_a_text_that_the_encoding_cannot_hold_is_not_written(context: DirectContext) -> None:
    path = file(context, "caf\xe9 two\n".encode("latin-1"))
    allow(context, a_txt="café 二\n")
    with pytest.raises(ToolError, match="latin-1"):
        await edit(context)
    assert path.read_bytes() == "caf\xe9 two\n".encode("latin-1")


async def test_a_long_difference_is_told_in_part(context: DirectContext) -> None:
    file(context)
    allow(context, a_txt="x\n" * 20_000)
    result = await edit(context)
    assert len(result.output) < 9_000
    assert "more lines of this diff are not shown" in result.output


async def test_multiedit_and_write_tell_the_same(context: DirectContext) -> None:
    path = file(context)
    allow(context, a_txt="mine\n")
    arguments = {"filePath": "a.txt", "edits": [{"oldString": "two", "newString": "2"}]}
    told = (await MULTIEDIT.execute(MULTIEDIT.input.model_validate(arguments), context)).output
    assert SENTENCE in told
    assert path.read_text() == "mine\n"
    allow(context, a_txt="ours\n")
    assert SENTENCE in (await write(context, "theirs\n")).output
    assert path.read_text() == "ours\n"


TWO_FILES = (
    "*** Update File: a.txt",
    " one",
    "-two",
    "+2",
    "*** Update File: b.txt",
    "-old",
    "+new",
)


async def test_one_file_of_a_patch_is_taken_out(context: DirectContext) -> None:
    a, b = file(context), file(context, "old\n", "b.txt")
    allow(context, b_txt=None)
    result = await patch(context, *TWO_FILES)
    assert (a.read_text(), b.read_text()) == ("one\n2\nthree\n", "old\n")
    assert "update: a.txt" in result.output
    assert "update: b.txt" not in result.output
    assert "b.txt: The user took this change out" in result.output
    assert [entry["relativePath"] for entry in result.metadata["files"]] == ["a.txt"]
    assert "b.txt" not in result.metadata["diff"]


async def test_a_patch_with_nothing_left_says_so(context: DirectContext) -> None:
    file(context)
    b = file(context, "old\n", "b.txt")
    allow(context, a_txt="one\ntwo\nthree\n", b_txt=None)
    result = await patch(context, *TWO_FILES)
    assert result.output.startswith("Nothing of the patch was applied.")
    assert result.metadata["files"] == []
    assert context.written == []
    assert b.read_text() == "old\n"


async def test_an_edited_file_of_a_patch_and_kinds_of_change(context: DirectContext) -> None:
    kept, moved = file(context, "x\ny\n", "kept.txt"), file(context, "m\n", "from.txt")
    allow(context, kept_txt="x\n", new_txt="better\n", to_txt="n\n")
    result = await patch(
        context,
        "*** Delete File: kept.txt",
        "*** Add File: new.txt",
        "+good",
        "*** Update File: from.txt",
        "*** Move to: to.txt",
        "-m",
        "+M",
    )
    assert kept.read_text() == "x\n"
    assert (context.worktree / "new.txt").read_text() == "better\n"
    assert not moved.exists()
    assert (context.worktree / "to.txt").read_text() == "n\n"
    assert [entry["type"] for entry in result.metadata["files"]] == ["update", "add", "move"]
    assert result.output.count(SENTENCE) == 3


async def test_a_file_that_changed_meanwhile_is_proposed_anew(context: DirectContext) -> None:
    path = file(context)
    context.meanwhile = [lambda: path.write_text("zero\none\ntwo and more\nthree\n")]
    await edit(context)
    assert path.read_text() == "zero\none\n2 and more\nthree\n"
    first, second = (asked.metadata for asked in context.asked)
    assert first["filediff"]["before"] == "one\ntwo\nthree\n"
    assert second["filediff"]["before"] == "zero\none\ntwo and more\nthree\n"
    assert ("again" in first, second["again"]) == (False, 1)


async def test_what_was_allowed_goes_to_its_place(context: DirectContext) -> None:
    path = file(context)
    context.meanwhile = [lambda: path.write_text("zero\none\ntwo\nthree\n")]
    result = await edit(context)
    assert path.read_text() == "zero\none\n2\nthree\n"
    assert len(context.asked) == 1
    shown = result.metadata["filediff"]
    assert (shown["before"], shown["after"]) == ("zero\none\ntwo\nthree\n", "zero\none\n2\nthree\n")
    assert "formatted" not in result.metadata


async def test_an_edit_that_no_longer_fits_says_why(context: DirectContext) -> None:
    path = file(context)
    context.meanwhile = [lambda: path.write_text("zero\n")]
    with pytest.raises(ToolError, match=r"changed while this edit waited.*no longer fits"):
        await edit(context)
    assert path.read_text() == "zero\n"
    context.meanwhile = [path.unlink]
    path.write_text("one\ntwo\n")
    with pytest.raises(ToolError, match=r"no longer fits.*does not exist"):
        await edit(context)


async def test_a_file_that_never_rests_is_given_up(context: DirectContext) -> None:
    path = file(context)
    context.meanwhile = [lambda: path.write_text(path.read_text().replace("two", "two more"))] * (ROUNDS + 1)
    with pytest.raises(ToolError, match=f"changed {ROUNDS} times"):
        await edit(context)
    assert len(context.asked) == ROUNDS
    assert "two" in path.read_text()


async def test_a_patch_goes_to_its_place_as_well(context: DirectContext) -> None:
    a, b = file(context), file(context, "old\n", "b.txt")
    context.meanwhile = [lambda: b.write_text("first\nold\n")]
    await patch(context, *TWO_FILES)
    assert (a.read_text(), b.read_text()) == ("one\n2\nthree\n", "first\nnew\n")
    assert len(context.asked) == 1


async def test_long_texts_are_named_by_their_address(context: DirectContext) -> None:
    before = "".join(f"line {number} \xff\n" for number in range(4000))
    file(context, before.encode("latin-1"))
    await edit(context, "line 7 ", "LINE 7 ")
    shown = context.asked[0].metadata["filediff"]
    assert "before" not in shown
    assert context.kept[shown["beforeObject"]].decode() == before
    assert context.kept[shown["afterObject"]].decode() == before.replace("line 7 ", "LINE 7 ")
    (context.worktree / "a.txt").unlink()
    await write(context, before)
    shown = context.asked[1].metadata["filediff"]
    assert (shown["beforeObject"], context.kept[shown["afterObject"]].decode()) == ("", before)


async def test_a_rejection_leaves_everything(context: DirectContext) -> None:
    path = file(context)
    context.decision, context.rejection = "reject", "no"
    with pytest.raises(PermissionRejected):
        await edit(context)
    assert path.read_text() == "one\ntwo\nthree\n"
