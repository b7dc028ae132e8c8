"""`apply_patch` on real files: the format, its fuzziness, and all or nothing."""

from __future__ import annotations

from textwrap import dedent

import pytest

from agents.toolkit.base import ToolError, ToolResult
from agents.toolkit.permission.errors import PermissionRejected
from agents.tools.apply_patch import TOOL
from tests.agents.tools.context import DirectContext


async def patch(context: DirectContext, body: str) -> ToolResult:
    text = f"*** Begin Patch\n{dedent(body).strip(chr(10))}\n*** End Patch"
    return await TOOL.execute(TOOL.input.model_validate({"patchText": text}), context)


async def test_one_patch_adds_updates_moves_and_deletes(context: DirectContext) -> None:
    root = context.worktree
    (root / "a.py").write_text("import os\n\n\ndef a():\n    return 1\n")
    (root / "old.py").write_text("x = 1\n")
    (root / "gone.py").write_text("bye\n")
    result = await patch(
        context,
        """\
        *** Update File: a.py
        @@ def a():
        -    return 1
        +    return 2
        *** Add File: sub/new.py
        +one
        +
        +two
        *** Update File: old.py
        *** Move to: sub/moved.py
        @@
        -x = 1
        +x = 2
        *** Delete File: gone.py
        """,
    )
    assert (root / "a.py").read_text() == "import os\n\n\ndef a():\n    return 2\n"
    assert (root / "sub/new.py").read_text() == "one\n\ntwo\n"
    assert (root / "sub/moved.py").read_text() == "x = 2\n"
    assert not (root / "old.py").exists()
    assert not (root / "gone.py").exists()
    (asked,) = context.asked
    assert asked.permission == "edit"
    assert asked.patterns == ("a.py", "sub/new.py", "old.py", "sub/moved.py", "gone.py")
    assert [file["type"] for file in result.metadata["files"]] == ["update", "add", "move", "delete"]
    assert "-bye" in result.metadata["diff"]
    assert result.metadata["filediff"]["deletions"] == 3


async def test_nothing_is_written_when_one_file_does_not_fit(context: DirectContext) -> None:
    (context.worktree / "a.txt").write_text("one\n")
    (context.worktree / "b.txt").write_text("two\n")
    with pytest.raises(ToolError, match=r"in b.txt, these lines were not found after line 0:\nthree"):
        await patch(
            context,
            """\
            *** Update File: a.txt
            -one
            +1
            *** Update File: b.txt
            -three
            +3
            """,
        )
    assert (context.worktree / "a.txt").read_text() == "one\n"
    assert context.asked == []


async def test_a_rejected_patch_changes_nothing(context: DirectContext) -> None:
    context.decision = "reject"
    with pytest.raises(PermissionRejected):
        await patch(context, "*** Add File: a.txt\n+a\n")
    assert not (context.worktree / "a.txt").exists()


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("a\n  b  \nc\n", " a\n-b\n+B", "a\nB\nc\n"),
        ("say “hi” – now\nx\n", ' say "hi" - now\n-x\n+y', "say “hi” – now\ny\n"),
        ("a\r\nb\r\n", "-b\n+c\n+d", "a\r\nc\r\nd\r\n"),
        ("x\ny\nx\ny", "@@\n-y\n+end\n*** End of File", "x\ny\nx\nend"),
        ("def f():\n    pass\ndef g():\n    pass\n", "@@ def g():\n-    pass\n+    return", None),
        ("a\n", "@@\n+b", "a\nb\n"),
        ("if x:\n\tone()\n", " if x:\n     one()\n+    two()", "if x:\n\tone()\n\ttwo()\n"),
        ("if x:\n\tone()\n", "@@ if x:\n+    zero()", "if x:\n\tzero()\n\tone()\n"),
        ("if x:\n\tone()\n", "-\tone()\n+    one()", "if x:\n    one()\n"),
        ("one\r\ntwo\r\nthree\nfour\r\n", "-two\n+2", "one\r\n2\r\nthree\nfour\r\n"),
        ("one\r\ntwo\r\nthree\nfour\r\n", " three\n+3\n four", "one\r\ntwo\r\nthree\n3\nfour\r\n"),
        ("one\r\ntwo", " two\n+three", "one\r\ntwo\r\nthree"),
        ("", "+one", "one\n"),
        ("one\ntwo\n", "\n@@\n-one\n+1\n\n@@\n-two\n+2\n", "1\n2\n"),
        ("one\ntwo\nthree\nfour\n", "@@\n-one\n+1\n@@\n-four\n+4", "1\ntwo\nthree\n4\n"),
    ],
)
async def test_where_a_chunk_fits(context: DirectContext, before: str, body: str, after: str | None) -> None:
    path = context.worktree / "a.txt"
    path.write_bytes(before.encode())
    await patch(context, f"*** Update File: a.txt\n{body}")
    wanted = after if after is not None else "def f():\n    pass\ndef g():\n    return\n"
    assert path.read_bytes().decode() == wanted


async def test_equal_lines_of_the_context_stay_each_as_it_is(context: DirectContext) -> None:
    path = context.worktree / "a.py"
    path.write_text("def f():\n        x()\n        if y:\n            x()\n            z()\n")
    result = await patch(context, "*** Update File: a.py\n@@\n x()\n if y:\n x()\n-z()\n+            w()")
    assert path.read_text() == "def f():\n        x()\n        if y:\n            x()\n            w()\n"
    assert "a.py: lines from 2 on were not there exactly; found without indentation." in result.output
    result = await patch(context, "*** Update File: a.py\n@@\n def f():\n-        x()")
    assert "exactly" not in result.output


async def test_blank_lines_may_stand_between_sections(context: DirectContext) -> None:
    root = context.worktree
    (root / "a.txt").write_text("b\nc\n")
    (root / "gone.txt").write_text("x\n")
    await patch(
        context,
        """
        *** Add File: new.txt
        +one

        *** Update File: a.txt

        @@
        -b
        +B


        *** Delete File: gone.txt

        """,
    )
    assert (root / "a.txt").read_text() == "B\nc\n"
    assert (root / "new.txt").read_text() == "one\n"
    assert not (root / "gone.txt").exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first line must be"),
        ("*** Begin Patch\n*** Add File: a", "last line must be"),
        ("*** Begin Patch\n*** End Patch", "changes no file"),
        ("*** Begin Patch\nhello\n*** End Patch", "Line 2: expected"),
        ("*** Begin Patch\n*** Add File: a\nb\n*** End Patch", r"begins with '\+'"),
        ("*** Begin Patch\n*** Update File: a\n@@\n*** End Patch", "changes nothing"),
        ("*** Begin Patch\n*** Update File: a\n*hm\n*** End Patch", "Line 3: expected a line"),
        ("*** Begin Patch\n*** Delete File:\n*** End Patch", "names no file"),
        ("*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+b\n*** End Patch", "twice"),
        ("*** Begin Patch\n*** Add File: there\n+b\n*** End Patch", "exists already"),
        ("*** Begin Patch\n*** Update File: absent\n-b\n*** End Patch", "does not exist"),
    ],
)
async def test_a_malformed_patch_is_explained(context: DirectContext, text: str, words: str) -> None:
    (context.worktree / "there").write_text("x")
    with pytest.raises(ToolError, match=words):
        await TOOL.execute(TOOL.input.model_validate({"patchText": text}), context)
    assert (context.worktree / "there").read_text() == "x"


@pytest.mark.parametrize("first", ["cat <<'EOF'", 'apply_patch <<"EOF"', "<<EOF", "apply_patch << 'EOF'"])
async def test_a_patch_in_a_heredoc_is_taken(context: DirectContext, first: str) -> None:
    text = f"{first}\n*** Begin Patch\n*** Add File: a.txt\n+EOF\n*** End Patch\nEOF\n"
    await TOOL.execute(TOOL.input.model_validate({"patchText": text}), context)
    assert (context.worktree / "a.txt").read_text() == "EOF\n"


async def test_an_error_in_a_heredoc_names_its_line(context: DirectContext) -> None:
    text = "cat <<EOF\n*** Begin Patch\nhello\n*** End Patch\nEOF"
    with pytest.raises(ToolError, match="Line 3"):
        await TOOL.execute(TOOL.input.model_validate({"patchText": text}), context)
