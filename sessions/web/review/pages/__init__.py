"""The review room's pages: the panel, verdicts, marks, the undo of a conversation, answers to permissions."""
