"""How one signs in at each provider, and how its token is renewed (RFC 6749, 7636, 8252, 8628)."""
