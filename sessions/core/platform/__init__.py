"""What a platform gives, and what takes its place where it does not (docs/decisions/0027)."""
