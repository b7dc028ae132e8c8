"""A git worktree for a fork: making it, with the files as they were at a point, and removing it."""
