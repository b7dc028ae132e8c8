"""What a model is asked with: read from configuration, chosen by variant, encoded by the readers."""
