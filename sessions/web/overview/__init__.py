"""All sessions of all projects on one page: a board, a list, and their socket."""
