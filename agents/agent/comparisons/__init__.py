"""Comparisons: one task that is tried several ways at once (docs/compare.md)."""
