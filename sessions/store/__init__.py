"""The one writer (design law 2): rows and event in one transaction, published after commit.

Functions here are synchronous and run on the ORM's thread (`sessions.db.in_db`).
"""
