"""A transcript of a session for others: a page of its own behind a secret address that can be revoked."""
