"""What happened to files: the log of a project, the timeline of a session."""
