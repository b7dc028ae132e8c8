"""What the agent, clients and pages have of language servers."""
