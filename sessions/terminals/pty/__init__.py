"""A program on a pseudo terminal, and who reads along."""
