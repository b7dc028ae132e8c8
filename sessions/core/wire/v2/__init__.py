"""The shapes of OpenCode's second protocol (`/api`), made of those of the first."""
