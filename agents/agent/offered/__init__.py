"""What MCP servers offer to sessions: tools, prompts, resources and instructions."""
