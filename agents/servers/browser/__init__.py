"""Chromium of a session, by which its agent looks at web pages (docs/decisions/0071-browser-tool.md)."""
