"""Programs beside the agent that answer questions: MCP servers and language servers."""
