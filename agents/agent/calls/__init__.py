"""Tool calls: run side by side, allowed by rules or people, each settled once."""
