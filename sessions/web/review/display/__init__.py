"""The review as HTML: tables of diffs, the panel, the undo dialog, the questions of the agent."""
