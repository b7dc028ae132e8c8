"""Commands: prompts with a name, written beforehand, with places for arguments, shell output and files."""
