"""The timeline on the page."""
