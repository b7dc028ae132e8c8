"""Programs that live beside this one: MCP servers and language servers."""
