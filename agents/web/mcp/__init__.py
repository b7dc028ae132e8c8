"""The page of MCP servers: how they stand, what they offer, and setting them up."""
