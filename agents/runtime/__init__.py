"""The session drain and its steps, on a thread and event loop of their own (design laws 4, 6, 10)."""
