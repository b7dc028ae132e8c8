"""The protocol as OpenCode's own document and clients see it."""
