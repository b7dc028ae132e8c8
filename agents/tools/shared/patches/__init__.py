"""The patch format that GPT models write: read it, and find the places it means."""
