"""Signing in at remote MCP servers (OAuth 2.1 as MCP has it: RFC 6749, 7591, 7636, 8414, 8707, 9207,
9728)."""
