"""Rows and the event log as OpenCode's second protocol shows them; nothing is kept here."""
