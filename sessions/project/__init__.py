"""The folder of a project for people: its files, and searching them."""
