"""The operations under `/api`: the same store and actions, in the shapes of OpenCode's second protocol."""
