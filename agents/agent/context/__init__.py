"""System Context: what the model is told about its surroundings."""
