"""The project's own web server beside the conversation (docs/preview.md)."""
