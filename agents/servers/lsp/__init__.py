"""Language servers: which there are, where they run, and what they say of a project's files."""
