"""From the server's JSON to text that is read by a model."""
