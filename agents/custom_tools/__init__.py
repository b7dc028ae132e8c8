"""Tools that users and projects bring: `tools/*.py` and the tools of plugins (issue 3, Custom tools)."""
