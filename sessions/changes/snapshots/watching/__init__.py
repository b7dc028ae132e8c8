"""What happened to the files of a worktree, told by the kernel, so that git need not look."""
