"""The diff a tool shows is one that `patch` can apply."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.tools.unified import MAX_CHARACTERS, MAX_LINES, unified

texts = st.lists(st.sampled_from(["a", "b", "c", "", "-x", "+x"]), max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join([*lines, ""])])
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts, texts)
def test_git_applies_it(tmp_path: Path, before: str, after: str) -> None:
    made = unified(before, after, "f")
    if before == after:
        assert made.diff == ""
        return
    (tmp_path / "f").write_text(before)
    if not before:
        (tmp_path / "f").unlink()
    patch = made.diff if before else made.diff.replace("--- a/f", "--- /dev/null")
    patch = patch if after else patch.replace("+++ b/f", "+++ /dev/null")
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=patch.encode(), check=True, capture_output=True)
    left = (tmp_path / "f").read_text() if (tmp_path / "f").exists() else ""
    assert left == after
    (tmp_path / "f").unlink(missing_ok=True)


def test_a_small_edit_of_a_huge_text_shows_its_place() -> None:
    lines = [f"{number}\n" for number in range(300_000)]
    changed = [*lines[:200_000], "new\n", *lines[200_001:]]
    made = unified("".join(lines), "".join(changed), "f")
    assert "@@ -199998,7 +199998,7 @@\n" in made.diff
    assert (made.additions, made.deletions) == (1, 1)


def test_very_long_diffs_say_what_they_leave_out() -> None:
    counted = unified("", "x\n" * (MAX_LINES + 1), "f")
    assert counted.additions == MAX_LINES + 1
    assert "0 lines become 20001 from line 1 on" in counted.diff
    cut = unified("", ("y" * 1000 + "\n") * 1000, "f")
    assert len(cut.diff) < MAX_CHARACTERS + 200
    assert "more lines of this diff are not shown" in cut.diff
    assert cut.additions == 1000
