"""What confines the programs that the agent starts (docs/decisions/0035)."""
