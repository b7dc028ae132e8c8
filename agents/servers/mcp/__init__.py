"""MCP servers: connections, and what of them the model and the page are given."""
