"""Keeping the conversation within the model's window: prune, compact, go on (seed 004 §4)."""
