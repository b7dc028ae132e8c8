"""What acts: agents, permission rules, the session drain, the model seam, tools."""
