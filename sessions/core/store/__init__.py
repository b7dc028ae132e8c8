"""The one writer: rows and event in one transaction, published after commit.

Functions here are synchronous and run on the ORM's thread (`sessions.core.db.in_db`).
"""
