"""`opencode.json`: its schema, reading it, writing it, and what of it is trusted."""
