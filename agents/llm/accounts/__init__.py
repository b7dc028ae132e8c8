"""Accounts at model providers: keys and sign-ins."""
