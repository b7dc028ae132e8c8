"""Permission requests as a person meets them: the inbox over all sessions, the dialog, the saved rules."""
