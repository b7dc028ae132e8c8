"""The session drain and its steps, on a thread and event loop of their own."""
