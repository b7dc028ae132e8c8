"""One language server: a program that is spoken with over its standard input and output."""
