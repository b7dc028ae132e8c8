"""Accounts at model providers: keys and sign-ins (seed 004 §13.3)."""
