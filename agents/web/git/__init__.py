"""The git panel of a session's page. docs/decisions/0051-git-panel.md."""
