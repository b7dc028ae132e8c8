"""`opencode-web mcp`: the MCP bridge, tools over the HTTP API."""
