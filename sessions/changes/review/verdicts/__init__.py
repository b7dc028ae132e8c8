"""Verdicts on what the agent did: what of it is still there, and taking it back by click."""
