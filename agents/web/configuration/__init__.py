"""The configuration as settings: what each is, where it comes from, and changing it in a file."""
