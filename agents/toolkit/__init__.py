"""What tools and agents are made of: rules, definitions, the catalogue of models, children."""
