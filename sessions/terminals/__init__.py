"""Terminals: a shell beside the conversation, over a WebSocket and in the page."""
