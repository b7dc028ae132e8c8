"""The operations log of a project: every change made through this app, by whom, and how to take it back."""
