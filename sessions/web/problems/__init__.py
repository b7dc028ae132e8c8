"""What language servers say of files, on the page: counted, listed, and as marks in diffs."""
