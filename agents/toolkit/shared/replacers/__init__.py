"""How `edit` finds the text a model meant: generators of candidate strings of the file."""
