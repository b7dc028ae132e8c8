"""Changes of files as they are proposed, allowed or edited by a person, and told to the model."""
