"""What happened in a session, in order; going back to a point of it, and forking from there."""
