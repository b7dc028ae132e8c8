"""What `opencode-web import` and `export` do; imported once Django is set up."""
