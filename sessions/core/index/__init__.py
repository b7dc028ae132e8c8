"""The index of what was said: which words a message has. It only proposes; the rows decide."""
