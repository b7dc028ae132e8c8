"""The life of language servers: which run, started, restarted and ended by need."""
