"""Where conversations go: JSON for programs, Markdown and HTML for people, with or without secrets."""
