"""Where conversations come from. Nothing here writes: a source is only ever read."""
