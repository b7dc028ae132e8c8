"""Permission rules: what a tool call may do, and when the user is asked."""
