"""What a language server is told of files: the open ones, and changes of the others."""
