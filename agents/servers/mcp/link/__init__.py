"""Connections over the official SDK. Loading it takes half a second: only `connection.py` does, by name."""
