"""Reviewing what the agent did and taking it back."""
