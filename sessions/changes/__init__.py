"""What the agent did to files, from the snapshot to the undo."""
