"""Fetching from the web for tools: bounded, pinned to checked addresses, turned into text."""
