"""Goals: a session that works until its finish line is reached (docs/goals.md)."""
