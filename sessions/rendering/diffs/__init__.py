"""Reading a diff: one file as a table, in pieces, with what is said over it."""
