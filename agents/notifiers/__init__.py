"""Notifiers: how news get out of this machine, in which format, and that they do (docs/notifiers.md)."""
