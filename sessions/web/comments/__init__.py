"""What a person says about lines of a diff, and how it goes to the agent."""
