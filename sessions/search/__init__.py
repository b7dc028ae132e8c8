"""Search over conversations: what is asked, what is found, and the index brought up to date."""
