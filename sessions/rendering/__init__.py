"""From rows to HTML: Markdown, tool cards, live fragments. One fragment serves page and live update."""
