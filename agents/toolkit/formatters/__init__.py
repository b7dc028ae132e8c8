"""Formatters that run on a file after an edit, where they are installed and the project uses them."""
