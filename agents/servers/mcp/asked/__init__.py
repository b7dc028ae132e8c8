"""What MCP servers ask of us in the middle of a call: an answer of the person, or of the model."""
