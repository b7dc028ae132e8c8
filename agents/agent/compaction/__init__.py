"""The context window: how full it is, what is left out of it, and what takes the place of what was said.

A conversation that outgrows the window first loses the output
of old tool calls (`pruning`), then all but its end is replaced by a summary (`compaction`).
"""
