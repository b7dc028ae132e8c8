"""The shapes of OpenCode's protocol, one definition for API, events and pages (seed 001, 004 §3.3)."""
