"""The store of contents: its size, its quota, and what can be thrown away."""
