"""Review mode: edits wait, seen by the agent alone, until a person keeps them."""
