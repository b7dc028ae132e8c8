"""git as a person uses it, by a click: `command` runs it, the other files each know one of its subjects.

What only reads for other purposes is in `sessions.changes.vcs`. docs/decisions/0051-git-panel.md.
"""
