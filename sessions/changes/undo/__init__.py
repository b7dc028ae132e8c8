"""Take back what the agent did to files, and only that."""
