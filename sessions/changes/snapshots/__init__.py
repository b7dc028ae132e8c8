"""What the worktree looked like before and after: content, trees, and what changed between two of them."""
