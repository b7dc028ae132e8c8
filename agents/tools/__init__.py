"""What the model can do: one file per tool, found through `registry`."""
