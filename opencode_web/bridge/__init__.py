"""`opencode-web mcp`: the MCP bridge of seed 003, tools over the HTTP API."""
