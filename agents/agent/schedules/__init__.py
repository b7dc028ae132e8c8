"""Schedules: what is done by itself, at its time or when something happens (docs/schedules.md)."""
