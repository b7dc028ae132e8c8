"""The pages of comparisons (docs/compare.md)."""
