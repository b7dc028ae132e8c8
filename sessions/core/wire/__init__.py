"""The shapes of OpenCode's protocol, one definition for API, events and pages."""
