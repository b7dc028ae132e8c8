"""Clients that nobody here wrote: the SDK, the terminal interface, the command line, the web app."""
