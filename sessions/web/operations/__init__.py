"""The log of a project on the page."""
