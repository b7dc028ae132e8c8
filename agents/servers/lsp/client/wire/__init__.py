"""How a language server is spoken with: framing, JSON-RPC, URIs, positions."""
