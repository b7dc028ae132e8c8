"""The files of a project on its pages: the tree, what is in a file, and what a person does to them."""
