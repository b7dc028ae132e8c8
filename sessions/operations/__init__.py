"""The operations log: every change made through this app, each of which can be taken back."""
