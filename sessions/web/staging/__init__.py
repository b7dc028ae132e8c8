"""Review mode on the page."""
