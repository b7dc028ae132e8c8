"""What is there for other programs and left out is named, with the reason."""

from __future__ import annotations

from pathlib import Path

from agents.config.unused import unused


def test_files_that_are_left_out_are_named(tmp_path: Path) -> None:
    project, own = tmp_path / "project", tmp_path / "home/.config/opencode"
    left = [
        own / "themes/mine.json",
        own / "plugins/guard.ts",
        project / ".opencode/tools/adder.js",
        project / ".opencode/tui.json",
        project / ".claude/commands/go.md",
    ]
    for file in (*left, own / "tui.json", own / "plugins/ours.py", project / ".opencode/agents/a.md"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    found = dict(unused(project, {"HOME": str(tmp_path / "home")}))
    assert set(found) == {*left[:-1], left[-1].parent}
    assert "Python" in found[left[1]]
