"""What a project may run or reach only after the user has trusted exactly that content (rule 14)."""
