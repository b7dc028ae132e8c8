"""The guard around everything the server answers: rules 1-7, 10, 16 and 17 of docs/security.md."""
