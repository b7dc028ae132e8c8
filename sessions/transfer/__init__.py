"""Sessions in and out: from OpenCode's storage, its database and its export; to JSON, Markdown and HTML."""
