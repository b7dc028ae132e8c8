"""The store of contents: what fills it, and what can be thrown away."""
