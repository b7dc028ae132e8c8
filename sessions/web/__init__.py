"""The pages and their live fragments, by capability."""
